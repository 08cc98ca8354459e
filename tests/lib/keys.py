"""The shop's signing keys: pairs whose public half goes into a JWKS file, and tokens signed with the other."""
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from lib.jwt import encode


class EcKey:
    alg = "ES256"

    def __init__(self, kid: str):
        self.kid, self._key = kid, ec.generate_private_key(ec.SECP256R1())
        self.public = self._key.public_key()

    def jwk(self) -> dict:
        point = self.public.public_numbers()
        return {"kty": "EC", "crv": "P-256", "alg": self.alg, "use": "sig", "kid": self.kid,
                "x": encode(point.x.to_bytes(32, "big")), "y": encode(point.y.to_bytes(32, "big"))}

    def sign(self, message: bytes) -> bytes:
        r, s = decode_dss_signature(self._key.sign(message, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


class EdKey:
    alg = "EdDSA"

    def __init__(self, kid: str):
        self.kid, self._key = kid, ed25519.Ed25519PrivateKey.generate()
        self.public = self._key.public_key()

    def jwk(self) -> dict:
        raw = self.public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return {"kty": "OKP", "crv": "Ed25519", "alg": self.alg, "use": "sig", "kid": self.kid, "x": encode(raw)}

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


def public_forms(key) -> list:
    """Every spelling of a public key that a careless server might take for an HMAC secret."""
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    pem = key.public.public_bytes(serialization.Encoding.PEM, info)
    jwk = key.jwk()
    raw = [jwk["x"].encode(), json.dumps(jwk).encode(), json.dumps(jwk, separators=(",", ":")).encode()]
    if isinstance(key, EcKey):
        raw.append(key.public.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint))
    else:
        raw.append(key.public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw))
    return [pem, pem.strip(), key.public.public_bytes(serialization.Encoding.DER, info), b"", *raw]


def signed(sign, header: dict, buyer: str, **claims) -> str:
    """A token with exactly this header; `sign` turns the signed text into a signature."""
    now = int(time.time())
    said = {"sub": buyer, "iat": now, "exp": now + 3600, **claims}
    said = {name: value for name, value in said.items() if value is not None}
    text = f"{encode(json.dumps(header).encode())}.{encode(json.dumps(said).encode())}"
    return f"{text}.{encode(sign(text.encode()))}"


def key_token(key, buyer: str, **claims) -> str:
    return signed(key.sign, {"alg": key.alg, "typ": "JWT", "kid": key.kid}, buyer, **claims)
