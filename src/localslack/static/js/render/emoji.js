// Emoji short names people and apps use most; any other name stays as it was typed.

const TABLE = `
+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|wave 👋|pray 🙏|clap 👏|raised_hands 🙌|muscle 💪|ok_hand 👌|point_right 👉|point_left 👈
point_up ☝️|point_down 👇|handshake 🤝|eyes 👀|brain 🧠|smile 😄|slightly_smiling_face 🙂|grinning 😀|joy 😂|sweat_smile 😅|wink 😉
blush 😊|heart_eyes 😍|thinking_face 🤔|neutral_face 😐|disappointed 😞|cry 😢|sob 😭|tired_face 😫|sleeping 😴|zzz 💤|scream 😱
sunglasses 😎|nerd_face 🤓|partying_face 🥳|hugging_face 🤗|exploding_head 🤯|robot_face 🤖|ghost 👻|heart ❤️|yellow_heart 💛
green_heart 💚|blue_heart 💙|purple_heart 💜|broken_heart 💔|sparkles ✨|star ⭐|star2 🌟|dizzy 💫|fire 🔥|zap ⚡|boom 💥|tada 🎉
confetti_ball 🎊|balloon 🎈|gift 🎁|trophy 🏆|medal 🏅|dart 🎯|rocket 🚀|rainbow 🌈|sunny ☀️|sunrise 🌅|city_sunset 🌇
crescent_moon 🌙|full_moon 🌕|cloud ☁️|umbrella ☔|snowflake ❄️|seedling 🌱|herb 🌿|evergreen_tree 🌲|four_leaf_clover 🍀
white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|negative_squared_cross_mark ❎|warning ⚠️|no_entry ⛔
no_entry_sign 🚫|question ❓|grey_question ❔|exclamation ❗|grey_exclamation ❕|bangbang ‼️|information_source ℹ️|bell 🔔|no_bell 🔕
mute 🔇|loudspeaker 📢|mega 📣|mag 🔍|bulb 💡|key 🔑|lock 🔒|unlock 🔓|wrench 🔧|hammer 🔨|hammer_and_wrench 🛠️|gear ⚙️|link 🔗
paperclip 📎|pushpin 📌|round_pushpin 📍|scissors ✂️|pencil 📝|memo 📝|pencil2 ✏️|book 📖|books 📚|bookmark 🔖|clipboard 📋|calendar 📆
date 📅|spiral_calendar_pad 🗓️|alarm_clock ⏰|stopwatch ⏱️|timer_clock ⏲️|hourglass ⌛|hourglass_flowing_sand ⏳|watch ⌚|clock1 🕐
clock2 🕑|clock3 🕒|clock4 🕓|clock5 🕔|clock6 🕕|clock7 🕖|clock8 🕗|clock9 🕘|clock10 🕙|clock11 🕚|clock12 🕛|email 📧|envelope ✉️
inbox_tray 📥|outbox_tray 📤|package 📦|mailbox 📫|phone ☎️|telephone_receiver 📞|iphone 📱|computer 💻|desktop_computer 🖥️
keyboard ⌨️|floppy_disk 💾|chart_with_upwards_trend 📈|chart_with_downwards_trend 📉|bar_chart 📊|moneybag 💰|briefcase 💼
house 🏠|office 🏢|school 🏫|hospital 🏥|car 🚗|taxi 🚕|bus 🚌|train 🚆|bike 🚲|airplane ✈️|walking 🚶|runner 🏃|weight_lifter 🏋️
person_in_lotus_position 🧘|swimmer 🏊|shower 🚿|bed 🛏️|couch_and_lamp 🛋️|coffee ☕|tea 🍵|beer 🍺|apple 🍎|green_salad 🥗|pizza 🍕
fork_and_knife 🍴|plate_with_cutlery 🍽️|cake 🍰|cookie 🍪|baby 👶|family 👪|busts_in_silhouette 👥|bust_in_silhouette 👤|dog 🐶|cat 🐱
arrow_right ➡️|arrow_left ⬅️|arrow_up ⬆️|arrow_down ⬇️|arrows_counterclockwise 🔄|repeat 🔁|rewind ⏪|fast_forward ⏩
leftwards_arrow_with_hook ↩️|arrow_right_hook ↪️|back 🔙|soon 🔜|heavy_plus_sign ➕|heavy_minus_sign ➖|arrow_forward ▶️
pause_button ⏸️|double_vertical_bar ⏸️|stop_button ⏹️|black_square_for_stop ⏹️|red_circle 🔴|large_orange_circle 🟠|large_yellow_circle 🟡
large_green_circle 🟢|large_blue_circle 🔵|large_purple_circle 🟣|white_circle ⚪|black_circle ⚫|large_red_square 🟥
large_orange_square 🟧|large_yellow_square 🟨|large_green_square 🟩|large_blue_square 🟦|large_purple_square 🟪|white_large_square ⬜
black_large_square ⬛|small_blue_diamond 🔹|small_orange_diamond 🔸|one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|six 6️⃣|seven 7️⃣|eight 8️⃣
nine 9️⃣|keycap_ten 🔟|zero 0️⃣|100 💯|speech_balloon 💬|thought_balloon 💭|construction 🚧|traffic_light 🚦|vertical_traffic_light 🚦
checkered_flag 🏁|triangular_flag_on_post 🚩|crossed_fingers 🤞|recycle ♻️|art 🎨|microscope 🔬|headphones 🎧|musical_note 🎵|video_camera 📹
camera 📷|newspaper 📰|label 🏷️|ticket 🎫|shield 🛡️|puzzle_piece 🧩|jigsaw 🧩|magic_wand 🪄|crystal_ball 🔮|anchor ⚓|compass 🧭|world_map 🗺️
`;

const EMOJI = new Map(
  TABLE.trim().split(/[|\n]/).map((entry) => {
    const cut = entry.lastIndexOf(" ");
    return [entry.slice(0, cut), entry.slice(cut + 1)];
  }),
);

/** The character for a short name without its colons, or null. */
export function emoji(name) {
  return EMOJI.get(name.replace(/::skin-tone-\d$/, "")) ?? null;
}

/** Plain text with its `:short_names:` replaced. */
export function withEmoji(text) {
  return text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => emoji(name) ?? whole);
}
