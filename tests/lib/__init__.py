"""What the tests share: starting real servers, speaking HTTP to them, signing tokens."""
