// What a form must satisfy before it is sent, said under each field, as Slack's own client does.

const REQUIRED = "Please complete this required field.";
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Sentences by block_id for every input block whose value cannot be sent as it is; empty when all is well. */
export function problems(surface) {
  const found = new Map(surface.invalid);
  for (const { blockId, block, element } of surface.fields()) {
    if (block.type !== "input" || found.has(blockId)) continue;
    const { type, ...held } = surface.state()[blockId][element.action_id];
    const [value] = Object.values(held);
    const empty = value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
    const sentence = empty ? (block.optional ? null : REQUIRED) : (CHECKS.get(type)?.(element, value) ?? null);
    if (sentence) found.set(blockId, sentence);
  }
  return Object.fromEntries(found);
}

const CHECKS = new Map(Object.entries({
  plain_text_input: lengthProblem,
  email_text_input: (_element, value) => (EMAIL.test(value) ? null : "Please enter an email address such as name@example.com."),
  url_text_input: (_element, value) => (URL.canParse(value) ? null : "Please enter a whole address, beginning with https://."),
  number_input: numberProblem,
}));

function lengthProblem({ min_length: least, max_length: most }, value) {
  if (least && value.length < least) return `Please enter at least ${least} characters.`;
  if (most && value.length > most) return `Please shorten this to ${most} characters; it has ${value.length}.`;
  return null;
}

function numberProblem({ is_decimal_allowed: decimal, min_value: least, max_value: most }, value) {
  const number = Number(value.replace(",", "."));
  if (value.trim() === "" || Number.isNaN(number)) return "Please enter a number.";
  if (!decimal && !Number.isInteger(number)) return "Please enter a whole number.";
  if (least !== undefined && number < Number(least)) return `Please enter ${least} or more.`;
  if (most !== undefined && number > Number(most)) return `Please enter ${most} or less.`;
  return null;
}
