"""How each engine that Doorbuster stands on is started, found ready and ended: for `./run cluster` and for the tests."""
