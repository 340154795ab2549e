"""Uses the client that openapi-python-client has generated: create, credit, limit, call, usage, rotate, disable, delete."""

import sys

from client import AuthenticatedClient
from client.api.keys import create_key, delete_key, get_key, rotate_key, update_key
from client.api.models import chat
from client.api.users import create_user, delete_user, get_user, list_users, manage_user
from client import models as m

url, token, username = sys.argv[1:4]
boss = AuthenticatedClient(base_url=url, token=token)


def call_with(secret: str) -> int:
    body = m.ChatBody.from_dict({"model": "test-model", "messages": [{"role": "user", "content": "Hello"}]})
    caller = AuthenticatedClient(base_url=url, token=secret)
    return int(chat.sync_detailed(client=caller, body=body).status_code)


created = create_user.sync(client=boss, body=m.CreateUserBody(username=username, password="correct horse battery"))
assert created.success, created
user = next(each for each in list_users.sync(client=boss, keyword=username).data.items if each.username == username)
action = m.UserAction.from_dict({"id": user.id, "action": "add_quota", "mode": "add", "value": 5000})
credited = manage_user.sync(client=boss, body=action)
assert credited.success, credited
assert get_user.sync(client=boss, id=user.id).data.quota == 5000

form = m.CreateKeyBody.from_dict({"name": username, "remain_quota": 100000, "limits": [{"requests_per_minute": 50}]})
key = create_key.sync(client=boss, body=form)
assert key.success, key
secret = key.data.key
assert call_with(secret) == 200
assert get_key.sync(client=boss, id=key.data.id).data.used_quota > 0

rotated = rotate_key.sync(client=boss, id=key.data.id, body=m.RotateKeyBody.from_dict({}))
assert rotated.success, rotated
assert call_with(secret) == 401
assert call_with(rotated.data.key) == 200
disabled = update_key.sync(
    client=boss, status_only="true", body=m.UpdateKeyBody.from_dict({"id": key.data.id, "status": 2})
)
assert disabled.success, disabled
assert call_with(rotated.data.key) == 401

assert delete_key.sync(client=boss, id=key.data.id).success
gone = get_key.sync(client=boss, id=key.data.id)
assert isinstance(gone, m.Failure) and gone.code == "key_not_found", gone
assert delete_user.sync(client=boss, id=user.id).success
print("well")
