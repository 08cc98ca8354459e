"""Buyers who come to the pages of a shop."""
from browser import Driver, Page
from lib import jwt
from lib.shop import Shop, instant

COOKIE = "shop_session"  # in which the shop's own pages bring the buyer's token
LEADS_S = (4, 8, 16, 32, 64)


class Visits:
    """Opens pages; each of them is judged at the end."""

    def __init__(self, driver: Driver, shop: Shop, origin: str = None):
        self.driver, self.shop = driver, shop
        self.origin = origin or f"http://127.0.0.1:{shop.server.public_port}"
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

    def before_start(self, buyer: str, language: str = "en", terms: dict = None, **more) -> tuple:
        """A sale, and its page as it is ready for the start, with half of the wait to come. A machine that is busy gets
        more time for it."""
        for lead_s in LEADS_S:
            sale = self.shop.create_sale(opens_at=instant(lead_s), **(terms or {}))
            self.shop.admin.post(f"/v1/sales/{sale}/warm")  # at once, unless the server was quicker
            page = self.sale(sale, f"{buyer}-{lead_s}", language, **more)
            if page.until("ready", "open") == "ready" and self._left_ms(sale) >= lead_s * 500:
                return sale, page
        raise AssertionError(f"no page was ready within {LEADS_S[-1]} s")

    def _left_ms(self, sale: str) -> int:
        told = self.shop.anyone.get(f"/v1/time?sale={sale}").json
        return told["sale"]["opens_at_ms"] - told["now_ms"]

    def end(self) -> None:
        pages, self._open = self._open, []
        try:
            for page in pages:
                page.judge()
        finally:
            for page in pages:
                page.close()
