"""pycurl. What the proxy said to CONNECT is in HTTP_CONNECTCODE when the transfer fails."""
import io

import job
import pycurl


def tell(ask):
    proxy, login, body = ask["bareProxy"], ask["login"], job.upload_of(ask)
    answer = io.BytesIO()
    curl = pycurl.Curl()
    # docs:begin
    curl.setopt(pycurl.PROXY, proxy)
    curl.setopt(pycurl.PROXYUSERPWD, login)
    # docs:end
    curl.setopt(pycurl.URL, ask["url"])
    curl.setopt(pycurl.CAINFO, ask["ca"])
    curl.setopt(pycurl.NOPROXY, "")
    curl.setopt(pycurl.FOLLOWLOCATION, True)
    curl.setopt(pycurl.TIMEOUT, 30)
    curl.setopt(pycurl.WRITEDATA, answer)
    if body is not None:
        curl.setopt(pycurl.POST, True)
        curl.setopt(pycurl.POSTFIELDSIZE, len(body))
        curl.setopt(pycurl.READDATA, io.BytesIO(body))
    try:
        curl.perform()
        return job.told(curl.getinfo(pycurl.RESPONSE_CODE), answer.getvalue())
    except pycurl.error as error:
        return job.told(curl.getinfo(pycurl.HTTP_CONNECTCODE), trouble=str(error))
    finally:
        curl.close()


job.run(tell)
