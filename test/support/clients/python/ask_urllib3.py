"""urllib3: its pool of connections to one proxy, with the login in the headers that go to the proxy."""
import job
import urllib3


def tell(ask):
    proxy, login, body = ask["bareProxy"], ask["login"], job.upload_of(ask)
    # docs:begin
    headers = urllib3.make_headers(proxy_basic_auth=login)
    pool = urllib3.ProxyManager(proxy, proxy_headers=headers)
    # docs:end
    pool.connection_pool_kw["ca_certs"] = ask["ca"]
    retries = urllib3.Retry(total=5, connect=0, read=0, other=0)
    answer = pool.request("GET" if body is None else "POST", ask["url"], body=body, retries=retries, timeout=30)
    return job.told(answer.status, answer.data)


job.run(tell)
