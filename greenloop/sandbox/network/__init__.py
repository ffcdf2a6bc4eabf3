"""Network access of scripts: allowlist, proxy and CA bundle."""
