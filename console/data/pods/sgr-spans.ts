/** Colours in the text of a log: SGR sequences become spans, everything else that steers a terminal is dropped. Pure. */

export interface Span {
  readonly text: string
  /** Classes of the style sheet, such as `sgr-bold sgr-fg-1`; empty for plain text. */
  readonly style: string
}

/** The look that the sequences so far have set. */
interface Look {
  isBold: boolean
  isFaint: boolean
  isItalic: boolean
  isUnderlined: boolean
  fg: number | undefined
  bg: number | undefined
}

// CSI sequences, OSC and other strings with their ends, and single escapes.
const sequence =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[([0-9;:]*)([ -/]*[@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|\u001b/g

/** Control characters, and marks that turn the direction of the text around them, but tabs. */
// oxlint-disable-next-line no-control-regex
const unwanted = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Splits a line. Colours beyond the first 16 are shown as plain text. */
export function sgrSpans(line: string): Span[] {
  const spans: Span[] = []
  let look = plain()
  let at = 0
  const add = (text: string): void => {
    const clean = text.replaceAll(unwanted, '')
    if (clean !== '') spans.push({ text: clean, style: styleOf(look) })
  }
  for (const match of line.matchAll(sequence)) {
    add(line.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === 'm') look = applied(look, match[1] ?? '')
  }
  add(line.slice(at))
  return spans
}

function plain(): Look {
  return {
    isBold: false,
    isFaint: false,
    isItalic: false,
    isUnderlined: false,
    fg: undefined,
    bg: undefined,
  }
}

function applied(before: Look, parameters: string): Look {
  const look = { ...before }
  const codes = parameters === '' ? [0] : parameters.split(/[;:]/).map(Number)
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 0) Object.assign(look, plain())
    else if (code === 1) look.isBold = true
    else if (code === 2) look.isFaint = true
    else if (code === 3) look.isItalic = true
    else if (code === 4) look.isUnderlined = true
    else if (code === 22) Object.assign(look, { isBold: false, isFaint: false })
    else if (code === 23) look.isItalic = false
    else if (code === 24) look.isUnderlined = false
    else if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5
      const index = isIndexed ? (codes[at + 2] ?? 256) : 256
      look[code === 38 ? 'fg' : 'bg'] = index < 16 ? index : undefined
      at += isIndexed ? 2 : 4
    } else setColour(look, code)
  }
  return look
}

function setColour(look: Look, code: number): void {
  if (code >= 30 && code <= 37) look.fg = code - 30
  else if (code >= 90 && code <= 97) look.fg = code - 90 + 8
  else if (code === 39) look.fg = undefined
  else if (code >= 40 && code <= 47) look.bg = code - 40
  else if (code >= 100 && code <= 107) look.bg = code - 100 + 8
  else if (code === 49) look.bg = undefined
}

function styleOf({ isBold, isFaint, isItalic, isUnderlined, fg, bg }: Look): string {
  return [
    isBold && 'sgr-bold',
    isFaint && 'sgr-faint',
    isItalic && 'sgr-italic',
    isUnderlined && 'sgr-underlined',
    fg !== undefined && `sgr-fg-${fg % 8}`,
    bg !== undefined && `sgr-bg-${bg % 8}`,
  ]
    .filter(Boolean)
    .join(' ')
}
