"""Blocks from the Slack SDK's own classes are accepted unchanged."""

from __future__ import annotations

import pytest
from slack_sdk.models import blocks as sdk
from slack_sdk.models.blocks.basic_components import DispatchActionConfig, FeedbackButtonObject
from slack_sdk.models.blocks.block_elements import (
    FeedbackButtonsElement,
    IconButtonElement,
    RichTextElementParts,
    RichTextSectionElement,
)
from slack_sdk.models.views import View

from localslack.blocks.surfaces import check_message_blocks, check_view

OPTIONS = [sdk.Option(text="Deep", value="deep"), sdk.Option(text="Shallow", value="shallow", description="Light")]
CONFIRM = sdk.ConfirmObject(title="Sure?", text="This undoes the plan.", confirm="Yes", deny="No", style="danger")
GROUPS = [sdk.OptionGroup(label="Kinds", options=OPTIONS)]
TEXT = sdk.MarkdownTextObject(text="*08:00* deep work", verbatim=False)

IN_ACTIONS: list[sdk.InteractiveElement] = [
    sdk.ButtonElement(text="Go", action_id="a1", value="1", style="primary", confirm=CONFIRM),
    sdk.LinkButtonElement(text="Open", action_id="a2", url="https://example.com"),
    sdk.StaticSelectElement(action_id="a3", placeholder="Kind", options=OPTIONS, initial_option=OPTIONS[0]),
    sdk.StaticSelectElement(action_id="a4", placeholder="Kind", option_groups=GROUPS, confirm=CONFIRM),
    sdk.DatePickerElement(action_id="a5", placeholder="Day", initial_date="2026-11-02"),
    sdk.TimePickerElement(action_id="a6", initial_time="08:30", timezone="Europe/Paris"),
    sdk.DateTimePickerElement(action_id="a7", initial_date_time=1_793_606_400),
    sdk.OverflowMenuElement(action_id="a8", options=OPTIONS),
    sdk.CheckboxesElement(action_id="a9", options=OPTIONS, initial_options=OPTIONS[:1]),
    sdk.RadioButtonsElement(action_id="a10", options=OPTIONS, initial_option=OPTIONS[1]),
    sdk.UserSelectElement(action_id="a11", placeholder="Who", initial_user="U0000ALEX"),
    sdk.UserMultiSelectElement(action_id="a12", placeholder="Who", max_selected_items=2),
    sdk.ConversationSelectElement(action_id="a13", placeholder="Where", filter=sdk.ConversationFilter(include=["im"])),
    sdk.ChannelSelectElement(action_id="a14", placeholder="Where", response_url_enabled=True),
    sdk.ExternalDataSelectElement(action_id="a15", placeholder="Task", min_query_length=2),
    sdk.StaticMultiSelectElement(action_id="a16", placeholder="Kinds", options=OPTIONS, initial_options=OPTIONS),
]

RICH = sdk.RichTextBlock(
    elements=[
        RichTextSectionElement(
            elements=[
                RichTextElementParts.Text(text="Plan for ", style={"bold": True}),
                RichTextElementParts.User(user_id="U0000ALEX"),
                RichTextElementParts.Link(url="https://example.com", text="here"),
                RichTextElementParts.Emoji(name="tada"),
            ]
        )
    ]
)

MESSAGES: list[sdk.Block] = [
    sdk.ActionsBlock(elements=IN_ACTIONS),
    sdk.SectionBlock(text=TEXT, fields=["*a*", "b"], accessory=IN_ACTIONS[7], block_id="s"),
    sdk.SectionBlock(text="Picture", accessory=sdk.ImageElement(image_url="https://example.com/x", alt_text="x")),
    sdk.ContextBlock(elements=[TEXT, sdk.PlainTextObject(text="plain", emoji=True)]),
    sdk.DividerBlock(),
    sdk.HeaderBlock(text="Monday"),
    sdk.ImageBlock(image_url="https://example.com/x", alt_text="x", title="Day"),
    sdk.MarkdownBlock(text="**prose**"),
    RICH,
    sdk.TableBlock(rows=[[{"type": "raw_text", "text": "08:00"}]], column_settings=[{"align": "right"}]),
    sdk.ContextActionsBlock(
        elements=[
            FeedbackButtonsElement(
                action_id="f",
                positive_button=FeedbackButtonObject(text="Good", value="up"),
                negative_button=FeedbackButtonObject(text="Bad", value="down"),
            ),
            IconButtonElement(action_id="i", icon="trash", text="Drop"),
        ]
    ),
    sdk.TaskCardBlock(task_id="1", title="Solving", status="in_progress"),
    sdk.PlanBlock(title="Steps", tasks=[{"task_id": "1", "title": "Read calendar", "status": "complete"}]),
    sdk.CardBlock(title="Card", body="Body", actions=[sdk.ButtonElement(text="Go", action_id="c")]),
    sdk.ContainerBlock(title="Today", child_blocks=[sdk.DividerBlock()], is_collapsible=True, default_collapsed=True),
]

INPUTS: list[sdk.InputInteractiveElement | sdk.InteractiveElement] = [
    sdk.PlainTextInputElement(
        action_id="i1",
        placeholder="Title",
        initial_value="x",
        multiline=True,
        max_length=150,
        dispatch_action_config=DispatchActionConfig(trigger_actions_on=["on_enter_pressed"]),
    ),
    sdk.NumberInputElement(action_id="i2", is_decimal_allowed=False, min_value="5", max_value="480"),
    sdk.EmailInputElement(action_id="i3", placeholder="Mail"),
    sdk.UrlInputElement(action_id="i4"),
    sdk.RichTextInputElement(action_id="i5", initial_value=RICH),
    *(element for element in IN_ACTIONS if element.type not in {"button", "overflow"}),
]


@pytest.mark.parametrize("block", MESSAGES, ids=lambda block: str(block.type))
def test_blocks_of_a_message(block: sdk.Block) -> None:
    check_message_blocks([block.to_dict()])


@pytest.mark.parametrize("element", INPUTS, ids=lambda element: str(element.action_id))
def test_fields_of_a_form(element: sdk.InputInteractiveElement) -> None:
    field = sdk.InputBlock(label="Field", element=element, hint="A hint", optional=True, dispatch_action=False)
    form = View(type="modal", title="Form", submit="Save", close="Cancel", blocks=[field], private_metadata="7")
    check_view(form.to_dict(), "modal")


def test_an_alert_in_a_form_and_a_home_tab() -> None:
    alert = sdk.AlertBlock(text="The calendar is away.", level="warning")
    check_view(View(type="modal", title="Form", blocks=[alert]).to_dict(), "modal")
    home = View(type="home", blocks=[sdk.HeaderBlock(text="Today"), sdk.SectionBlock(text=TEXT), MESSAGES[-1]])
    check_view(home.to_dict(), "home")
