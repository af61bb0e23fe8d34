"""The keyword tables as the first design had them; where they exist already, nothing happens to them."""

from tortoise import BaseDBAsyncClient

RUN_IN_TRANSACTION = True

KEYWORD_TABLES = ("boss_keyword", "qcwy_keyword", "zhilian_keyword")
UNIQUE_NAMES = {
    "boss_keyword": "uid_boss_keywor_city_c1a33f",
    "qcwy_keyword": "uid_qcwy_keywor_city_936ceb",
    "zhilian_keyword": "uid_zhilian_key_city_a0546c",
}

# The binary collation keeps «C++», «c++» and «Ｃ＋＋» three keywords, as SQLite does and as boards are asked for them.
MYSQL_KEYWORD_TABLE = """
CREATE TABLE `{table}` (
    `id` BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    `city` VARCHAR(255) NOT NULL,
    `job` VARCHAR(255) NOT NULL,
    `last_requested_date` DATE,
    `last_requested_at` DATETIME(6),
    `created_at` DATETIME(6) NOT NULL,
    `updated_at` DATETIME(6) NOT NULL,
    UNIQUE KEY `{unique}` (`city`, `job`)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;"""

MYSQL_AERICH_TABLE = """
CREATE TABLE `aerich` (
    `id` INT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    `version` VARCHAR(255) NOT NULL,
    `app` VARCHAR(100) NOT NULL,
    `content` JSON NOT NULL
) CHARACTER SET utf8mb4;"""

SQLITE_KEYWORD_TABLE = """
CREATE TABLE "{table}" (
    "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    "city" VARCHAR(255) NOT NULL,
    "job" VARCHAR(255) NOT NULL,
    "last_requested_date" DATE,
    "last_requested_at" TIMESTAMP,
    "created_at" TIMESTAMP NOT NULL,
    "updated_at" TIMESTAMP NOT NULL,
    CONSTRAINT "{unique}" UNIQUE ("city", "job")
);"""

SQLITE_AERICH_TABLE = """
CREATE TABLE "aerich" (
    "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    "version" VARCHAR(255) NOT NULL,
    "app" VARCHAR(100) NOT NULL,
    "content" JSON NOT NULL
);"""


async def upgrade(db: BaseDBAsyncClient) -> str:
    mysql = db.capabilities.dialect == "mysql"
    there = await existing_tables(db, mysql)
    keyword_table = MYSQL_KEYWORD_TABLE if mysql else SQLITE_KEYWORD_TABLE
    statements = [
        keyword_table.format(table=table, unique=UNIQUE_NAMES[table]) for table in KEYWORD_TABLES if table not in there
    ]
    if "aerich" not in there:
        statements.append(MYSQL_AERICH_TABLE if mysql else SQLITE_AERICH_TABLE)
    return "\n".join(statements) or "SELECT 1"


async def downgrade(db: BaseDBAsyncClient) -> str:
    # The tables may be older than this history and hold somebody's work list: aerich answers that there is nothing
    # to downgrade, and whoever really wants them gone drops them by hand.
    return ""


async def existing_tables(db: BaseDBAsyncClient, mysql: bool) -> set[str]:
    # Asked for instead of IF NOT EXISTS, with which MySQL warns of each table that is there.
    if mysql:
        query = "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
    else:
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return {row["name"] for row in await db.execute_query_dict(query)}


MODELS_STATE = (
    "eJztl2FzmjAYx7+Kx6vuzvUsanV7p61b3VbdWm7btdfLRYiYCYmFMOs6v/uSACKoVLveRm"
    "3ewfM8CU9+fyD532sutZDjH7ap739Esyn1LO1t6V4j0EX8Yl26XNLgZJIkRYDBgSPrB7wQ"
    "jJcqBz7zoMl4bggdH/GQhXzTwxOGKeFREjiOCFKTF2JiJ6GA4NsAAUZtxEbI44nra83EbC"
    "bm/UEH2s0Nv8DEQnfIF1lxOxmDIUZOehFYtiLjgM0mMtbGdpewd7JWPH8ATOoELknqJzM2"
    "omQxABMmojYiyIMMiScwLxALEv1G64/XGPaelIRdLo2x0BAGDlsCMABJTAOg1zfAZccAQN"
    "sBmUmJwM1b9SUAW7Tw+o2uV6sNvVI9btZrjUa9WWnyWtnvaqoxD5tJaIVTSWbd992eIRqi"
    "XNNQcBGYyzGQwXCUFCOhH0uW5n8ygt56+nF9hj9fWJZ/TDtPgDiQKJC8h/9CAhfeAQcRm4"
    "34rV6v5+D92ro4OWtdHPCqV2nIvSilhznBO+ErPoUd8Ebliu52dB3oM+AhvlyfYwH8LUer"
    "tE95dD3tDcMz9EWYYRcdxvkHdIh+IkWRIYf6acvo5BOFbD1PwWMrpuEEeUTFxV5RNbrnnU"
    "ujdf5ZTO/6/q0TsxYZXUZnmejBcea1X0xS+tY1zkritnTV73UkTeoz25NPTOqMK030BANG"
    "AaFTAK1lJnE4DqU0Nz0EHyd2euQTqFy4fxhfoNUnzix6A5+J7NHHkqt6MLEeqXp6pFK9KK"
    "qv+dhl9+LoPRwvHf9EYADN8RR6FljJUJ1uql1NubqbjUACbamZgCvajGzKF3M6y3Exy+ly"
    "nou55YXKxSgXo1yMcjF7QVe5GOViCke14Acb5WL2/zyrXMxLVL3gLuZqhB0MSY6RyVSU87"
    "zMr7BW2RllZ5SdUXZmL+gqO6PsTOGoFvyEo+zM/h9slZ15iaoX3M60kIfNkbbGxkSZcp59"
    "gUnNk7qWv7EpL8Wj6Ee1Rq1ZPa4trMkikudIHnYfP5Hni5Z2OCEvDVGn5O1OyeKj2oFwVL"
    "6HdI8qlS3o8qqNdGUuTZc/kSGyZhP9cNnvbTg2JUOyuyc2Wel3ycH+yr/iGdDOgStgpLbI"
    "mOnBeet7FvfJp347u/eJCdoc/X/dzOZ/AGZna7M="
)
