// Pictures of a spinner by name.

const preset = (frames, intervalMs) => ({ frames, intervalMs })

export const FRAME_PRESETS = {
  moon8: preset(['🌑', '🌒', '🌓', '🌔', '🌕', '🌖', '🌗', '🌘'], 120),
  claude: preset(['·', '✢', '✳', '✶', '✻', '✽'], 120),
  dots: preset(['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'], 80),
}
