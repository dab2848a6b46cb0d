"""Scrapy: all asks are requests of one spider, the proxy in `meta` as its HttpProxyMiddleware wants it."""
import json
import sys

import job
import scrapy
from scrapy.crawler import CrawlerProcess

asks = json.load(sys.stdin)
answers = [None] * len(asks)


def request_for(ask, more):
    url, proxy, body = ask["url"], ask["proxy"], job.upload_of(ask)
    more = {**more, "method": "GET" if body is None else "POST", "body": body}
    # docs:begin
    request = scrapy.Request(url, meta={"proxy": proxy}, **more)
    # docs:end
    return request


class Matrix(scrapy.Spider):
    name = "matrix"

    def start_requests(self):
        for at, ask in enumerate(asks):
            yield request_for(ask, {"callback": self.parse, "errback": self.fail, "cb_kwargs": {"at": at}, "dont_filter": True})

    def parse(self, response, at):
        answers[at] = job.told(response.status, response.body)

    def fail(self, failure):
        answers[failure.request.cb_kwargs["at"]] = job.failed(failure.value)


process = CrawlerProcess(
    {
        "HTTPERROR_ALLOW_ALL": True,
        "RETRY_ENABLED": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_ENABLED": False,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_TIMEOUT": 30,
    }
)
process.crawl(Matrix)
process.start()
print(json.dumps(answers))
