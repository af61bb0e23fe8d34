"""Who gets which keyword (I1), and in which order."""

from tests.service.conftest import Api


async def test_a_keyword_is_claimed_once_and_not_again(api: Api) -> None:
    await api.add("python")
    assert (await api.claim("first"))["job"] == "python"
    assert await api.claim("second") is None
