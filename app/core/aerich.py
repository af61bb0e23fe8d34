"""What aerich reads when it is run by hand: `tortoise_orm` in aerich.ini and pyproject.toml names this module."""

from app.core.database import tortoise_config
from app.core.settings import load_settings

TORTOISE_ORM = tortoise_config(load_settings())
