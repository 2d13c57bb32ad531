// Which control draws which Block Kit element.

import { h } from "../dom.js";
import { button, feedbackButtons, iconButton, overflow } from "../controls/buttons.js";
import { checkboxes, radioButtons } from "../controls/choices.js";
import { datePicker, dateTimePicker, timePicker } from "../controls/dates.js";
import { emailInput, numberInput, plainTextInput, urlInput } from "../controls/inputs.js";
import { channels, fixedOptions, lookedUpOptions, people, select } from "../controls/select.js";
import { image } from "./image.js";
import { plain } from "./text.js";

const CONTROLS = new Map(Object.entries({
  button,
  workflow_button: button,
  overflow,
  feedback_buttons: feedbackButtons,
  icon_button: iconButton,
  checkboxes,
  radio_buttons: radioButtons,
  datepicker: datePicker,
  timepicker: timePicker,
  datetimepicker: dateTimePicker,
  plain_text_input: plainTextInput,
  number_input: numberInput,
  email_text_input: emailInput,
  url_text_input: urlInput,
  static_select: select("selected_option", fixedOptions),
  multi_static_select: select("selected_options", fixedOptions, { many: true }),
  external_select: select("selected_option", lookedUpOptions),
  multi_external_select: select("selected_options", lookedUpOptions, { many: true }),
  users_select: select("selected_user", people),
  multi_users_select: select("selected_users", people, { many: true }),
  conversations_select: select("selected_conversation", channels),
  multi_conversations_select: select("selected_conversations", channels, { many: true }),
  channels_select: select("selected_channel", channels),
  multi_channels_select: select("selected_channels", channels, { many: true }),
}));

/** The node for one element; an unknown kind becomes its text and a note, so that the rest stays usable. */
export function drawElement(field) {
  const { element } = field;
  if (element.type === "image") return image(element, "thumbnail");
  const control = CONTROLS.get(element.type);
  if (control) return control(field);
  const words = plain(element.text, "") || plain(element.placeholder, "");
  return h("span", { class: "unknown" }, words, h("small", {}, `This page can't show the element “${element.type}”.`));
}
