from . import chat as chat, endpoint_settings as endpoint_settings
from .chat import (
    ChatModel as ChatModel,
    LanguageModelError as LanguageModelError,
    Question as Question,
    Reply as Reply,
    in_order as in_order,
)
from .endpoint_settings import EndpointSettings as EndpointSettings
from .replies import (
    ask_for as ask_for,
    read_caption as read_caption,
    read_list as read_list,
    read_yes_no as read_yes_no,
)
