"""Buyers who come to the pages of a shop."""
from browser import Driver, Page
from lib import jwt
from lib.shop import Shop

COOKIE = "shop_session"  # in which the shop's own pages bring the buyer's token


class Visits:
    """Opens pages; each of them is judged at the end."""

    def __init__(self, driver: Driver, shop: Shop):
        self.driver, self.shop = driver, shop
        self.origin = f"http://127.0.0.1:{shop.server.public_port}"
        self._open = []

    def token(self, buyer: str, **claims) -> str:
        return jwt.mint(self.shop.server.hmac_secret, buyer, **claims)

    def page(self, language: str = "en", **more) -> Page:
        page = Page(self.driver, language, {self.origin}, **more)
        self._open.append(page)
        return page

    def sale(self, sale: str, buyer: str = None, language: str = "en", **more) -> Page:
        """The sale's page as this buyer, whose token comes in the address; or as nobody."""
        page = self.page(language, **more)
        page.goto(f"{self.origin}/sales/{sale}" + (f"#token={self.token(buyer)}" if buyer else ""))
        return page

    def end(self) -> None:
        pages, self._open = self._open, []
        try:
            for page in pages:
                page.judge()
        finally:
            for page in pages:
                page.close()
