"""httpx, the synchronous client."""
import job
import httpx


def tell(ask):
    proxy, body = ask["proxy"], job.upload_of(ask)
    more = {"verify": ask["ca"], "follow_redirects": True, "timeout": 30}
    # docs:begin
    client = httpx.Client(proxies=proxy, **more)
    # docs:end
    with client:
        answer = client.request("GET" if body is None else "POST", ask["url"], content=body)
        return job.told(answer.status_code, answer.content)


job.run(tell)
