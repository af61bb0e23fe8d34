"""Blocks of sources, and the cool-downs that follow from them."""

from tortoise import BaseDBAsyncClient

RUN_IN_TRANSACTION = True

MYSQL_TABLES = {
    "source_block": """
CREATE TABLE `source_block` (
    `id` BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    `source` VARCHAR(20) NOT NULL,
    `crawler_id` VARCHAR(100) NOT NULL,
    `blocked_at` DATETIME(6) NOT NULL,
    UNIQUE KEY `uid_source_bloc_source_4cad4b` (`source`, `crawler_id`)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;""",
    "source_cooldown": """
CREATE TABLE `source_cooldown` (
    `source` VARCHAR(20) NOT NULL PRIMARY KEY,
    `strikes` INT NOT NULL,
    `until` DATETIME(6) NOT NULL,
    `reason` VARCHAR(1000) NOT NULL
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;""",
}
SQLITE_TABLES = """
CREATE TABLE IF NOT EXISTS "source_block" (
    "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    "source" VARCHAR(20) NOT NULL,
    "crawler_id" VARCHAR(100) NOT NULL,
    "blocked_at" TIMESTAMP NOT NULL,
    CONSTRAINT "uid_source_bloc_source_4cad4b" UNIQUE ("source", "crawler_id")
);
CREATE TABLE IF NOT EXISTS "source_cooldown" (
    "source" VARCHAR(20) PRIMARY KEY NOT NULL,
    "strikes" INT NOT NULL,
    "until" TIMESTAMP NOT NULL,
    "reason" VARCHAR(1000) NOT NULL
);"""


async def upgrade(db: BaseDBAsyncClient) -> str:
    if db.capabilities.dialect != "mysql":
        return SQLITE_TABLES
    there = await _mysql_tables(db)
    return "\n".join(sql for table, sql in MYSQL_TABLES.items() if table not in there) or "SELECT 1"


async def downgrade(db: BaseDBAsyncClient) -> str:
    if db.capabilities.dialect != "mysql":
        return 'DROP TABLE IF EXISTS "source_block"; DROP TABLE IF EXISTS "source_cooldown";'
    there = await _mysql_tables(db)
    return "\n".join(f"DROP TABLE `{table}`;" for table in MYSQL_TABLES if table in there) or "SELECT 1"


async def _mysql_tables(db: BaseDBAsyncClient) -> set[str]:
    # Asked for instead of IF EXISTS, with which MySQL warns when it does not apply.
    rows = await db.execute_query_dict(
        "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
    )
    return {row["name"] for row in rows}


MODELS_STATE = (
    "eJztXW2T2jYQ/isaf2k6QzOEe23yibtce9fm7tIc03aSyTjCFqCekYgkjtD0/nsl2cbYGP"
    "N6nIH9woC0K9vPyrtr7SPz3elynwTy5RmX8ncyHHDhO6/Rd4fhLtFf8roryMG9XtJpGhRu"
    "Bla+qQXd+zHJplQCe0r3tXAgiW7yifQE7SnKmW5l/SAwjdzTgpS1k6Y+o1/7xFW8TVSHCN"
    "3x6ZPjUTU04/7Dm87nz/oLZT75RqTp/e60KAl8+93xBB4ErlRY9e0ZBlgqVxA9olTEd32s"
    "iGkWRImhi5VjxiLfeoJIqU/MjmGaIhyiU1LDnr1KxwrrC7M/Hisodei8Q61x+IkrI1gSVw"
    "9O9ehrvhR7LCJc6q80qhHs3bt24NT0onaS2HY31j2j7SumfrGyZmY0XY8H/S5L5HtD1eFs"
    "pECZMq1twojQWJsjKNE3U82cVTQz49kXzqpEJJw/Yzo+aeF+oMamZtNN2hzXvbltuHcXDd"
    "d1FpjMnoZMw6FPVVoA2uYUfvq5Vjs4OKlVD45Pjw5PTo5Oq6fWoLpvsuvkMTyZBK1wKIvZ"
    "1a9XNw1zQlzfbeGtaBoerQ5W2E2MmqAf30xp/M87WOSjH8tn8NcXlsU/RrvIAHFDYoHEQ2"
    "zCBF38zQ0Ia6uO/lk7OiqA98/6h/PL+ocXWurHNMg3UVct7Hu0N1CMr3FSC8AbiQO686E7"
    "xaOn0X6rW/PRnqKeQd80K9olL+P+GXaInEhZzFCA+tt646IYUazy8TR4zIVpOEARoubLTq"
    "HauLq+uGvUr9+b4btSfg1irE1PzbYOM60vjjPTfjQI+uuqcYnMT/Tx9ubCosmlagt7xESu"
    "8dFEbgf3FXcZH7jYH8ckbo6bUjbPZhOTzuqC9bvW3FcaBMw8MhkXMmNszoPphCCIzyevNW"
    "Vfx5whQbyFdD6JzFxFXoBp11nGo1XncWjV6f6smuvOPN7tBcTcOz3cznFnUxOjKdqzM6V1"
    "WaKaNUJ15eyo9urw5PD04PhwlBSNWopyoTjvSaBVXOHAYpIzxadCmtFaCsqSOa51A6szFu"
    "m2eJ/lpPFTcU0rwQxNeVCxXODN04e4W/6426KMys4KJs8MADYvvc3D1ZTcTKvA0COtpXKr"
    "ktk0nUq9qs6TS2mpqcmU7Us7VCIEF26XSJmbR01He0Jxg8nsZCK7TpDnRLkQ5gmcw/VTT0"
    "fzHAc2NQXIaEEOkICyeCAY1wP/X2r/b542XcXvCVsoAKTVdsMhHdTmcEcHtanOyHQ95qC7"
    "4HNzWgkckWmZKCgt6JDy9MExldoxCYKXffAc11yDlUtXyNAX6N+yYBjNwC0xe3SzFFq93/"
    "OXtHpaE6xeFqvn3Oz27E39vXU/VgM2DU3s3Q+w8N2JHl7j02Qnu7q1brYFMx1P/Qhcc5oR"
    "iyRikFxSqbgYOjk8k4xEpYhqErFM3M6Y8Cy2iXPJB4gzgiLlHySyj9emKGCae6Yo4OMhIn"
    "re+RU0EFQpwtCgoz8wamkzdMKigdHAKNBTWlgF3UOUtJWFaOyX2brCxg+ey6CRvC/CGk4M"
    "YLiw0OxLyvRjb8RXKeLWJEOklSpRiQW4IrvHFUlsPu9jS6Kxi4yGtdf/0nfj/NM8rbe5J5"
    "gdmfGJASZ82bxMkgnFFTkkZTPHYiQSIJUBqWx70Q3zl0WinMq/6XcCYSC5bC01AzgvwHnZ"
    "Kly3rJK4RcgC7QBoByVB/Ek4CECe2796FZDn9s/mUKPcUTOXpDz1hzcYFuyBHu+uFBWmvm"
    "pB2AMNe6ArUNcqyyo/7IGG5epdRBf2QMMe6NKhuhU5J+yBhj3Q+0TqhnoQ1IPKPUNhGXc/"
    "4y4s4+6dzaEYCcVI2AMNe6BhD/T++X/YAw17oMvviGAP9N45JuAX7NhuWNgDvY9Wz7nZy7"
    "QH+mOHBhSzAp5JRqJSRDX5N5QFtgmwTSrANgG2SbkDCrBNthtdYJsA26R0qJY89wS2CbBN"
    "9m/5DNgmwDYp9wwFtsl+xl1gm+ydzYFtAmwTYJsA2wTYJvvn/4FtAmyT8jsiYJvsnWMCts"
    "mO8Q6AbbKPVi852+SOiAfqkTv7ktIcrkmqv1LENJGhpDt63+nsd+3fMoIEH7xOFv8lbTNT"
    "DQhoy1YFMBsiMzARqCe4px8BK6g5RIMO9Tq6E/G+0teFqESCeLzNqCQ5r9V/wuPkMGIyFJ"
    "iFiBZ3XRwEK1Mt5rmby8C1OKidHI8yI/OjKCm6u66/ezebQIED+kCW8J/jejvoPbfXW4ZB"
    "sizu0v5lwVnAvftcbznWXewsraDbHEnO9JWN2HWZCagdGVYIoybXV4TsKMTXv6N1yTfG20"
    "nEA1/7My3KrOMb6KnHB4iyyK1ZNYnskg/CQrtI0uUPef5zw8ee8a8k4wS4VXwtkNpMH/w1"
    "yA68Nf3ZqhjlBvpJyhiRx1sixUhrQpIBSUZRknHOdQzlAzY9zxhJzJNqeOPCM7ONOgrVwm"
    "CvYVUSNYmH+1I/BJnvqeAviX5wwkGcAsg36IuO6zT4YgK+Cf/mj8tea8VoJMZRlwsymWhs"
    "7rArPLc9fzR73pTiSWJZQfKgT+d+IZbYmAa87j+nmGBvkoXXF2MliFuli1vpkjWWfKFaZq"
    "Kxmyng2kgWpUoP3pugOD03CLvnSQx6I8kFswKzLNozM4ML1MES2YH8NybMCj6oIN2cG48Z"
    "V5HsrARgTUeAWL8tsR6c10YYYs+eAABvAHgDYOYtXZ6oE0G9Tl7qEfUUZh04kVnrewhWqQ"
    "TsSxlgxSfI6XH7gQjzBoJFAveYyg5G7ifZXW1uqgUQjsR3EN0nWdfXR1QkjzL/293tzZSI"
    "mahkwyX1FPoPBVRu44JTAbgGjFSMjDF9cV3/Owv3+bvbs2zwMwOcPffD9OP/VDBMGQ=="
)
