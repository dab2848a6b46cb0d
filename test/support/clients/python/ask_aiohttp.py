"""aiohttp: pages, and the only WebSocket among the Python clients here."""
import asyncio
import ssl

import aiohttp
import job


async def web_socket(session, ask, **way):
    async with session.ws_connect(ask["url"], **way) as socket:
        await socket.send_str(ask["message"])
        return job.told(101, (await socket.receive(timeout=30)).data.encode())


async def page(session, ask, **way):
    body = job.upload_of(ask)
    async with session.request("GET" if body is None else "POST", ask["url"], data=body, **way) as answer:
        return job.told(answer.status, await answer.read())


async def tell(ask):
    trusted = ssl.create_default_context(cafile=ask["ca"])
    proxy, login = ask["bareProxy"], ask["login"]
    name, _, password = (login or "").partition(":")
    async with aiohttp.ClientSession() as session:
        # docs:begin
        auth = aiohttp.BasicAuth(name, password)
        way = {"proxy": proxy, "proxy_auth": auth}
        # docs:end
        if login is None:
            way["proxy_auth"] = None
        talk = web_socket if ask["url"].startswith("ws") else page
        try:
            return await talk(session, ask, ssl=trusted, **way)
        except aiohttp.ClientHttpProxyError as refused:
            return job.told(refused.status, trouble=str(refused))


job.run(lambda ask: asyncio.run(tell(ask)))
