"""Python requests. One session for each ask, so that no connection and no login is left over from the one before."""
import job
import requests


def tell(ask):
    proxy, url, body = ask["proxy"], ask["url"], job.upload_of(ask)
    # docs:begin
    session = requests.Session()
    session.proxies = {"http": proxy, "https": proxy}
    # docs:end
    session.verify = ask["ca"]
    answer = session.request("GET" if body is None else "POST", url, data=body, timeout=30)
    return job.told(answer.status_code, answer.content)


job.run(tell)
