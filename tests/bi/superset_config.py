"""Superset for a test: its own database file, and everyone is an administrator. Never use it for anything else."""

from __future__ import annotations

import os
from typing import Any

SECRET_KEY = "only for a test, on the loopback, for a minute"
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ.get('SUPERSET_HOME', '.')}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False


def FLASK_APP_MUTATOR(app: Any) -> None:  # noqa: N802 (Superset's name for it)
    """A browser that only takes a screenshot cannot log in."""

    @app.before_request
    def log_in() -> None:
        from flask_login import current_user, login_user
        from superset import security_manager

        administrator = security_manager.find_user("admin")
        if administrator and not current_user.is_authenticated:
            login_user(administrator)
