import type { Option } from 'commander'

/**
 * Describes an option in a help text. Its default is written as a person would type it, and left out if it is an empty
 * text, an empty list, or off.
 */
export function optionDescription(option: Option): string {
  const { description, defaultValue, defaultValueDescription } = option
  // The library's own type of a default is `any`.
  const text = defaultValueDescription ?? defaultText(defaultValue as unknown)
  return text === '' ? description : `${description} (default: ${text})`
}

function defaultText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : ''
}
