import type { ScalarTag, Tags } from 'yaml'

const unwantedTags: ReadonlySet<string> = new Set(
  ['timestamp', 'set', 'omap', 'pairs', 'binary'].map((name) => `tag:yaml.org,2002:${name}`),
)

export const notBase64 = '!!binary value contains invalid base64 data'

/** Octals of YAML 1.2, which upstream reads in addition to those of 1.1. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  format: 'OCT12',
  test: /^[-+]?0o[0-7][0-7_]*$/,
  resolve(text) {
    const digits = text.replaceAll('_', '').replace(/^[-+]?0o/, '')
    return (text.startsWith('-') ? -1 : 1) * Number.parseInt(digits, 8)
  },
}

/** Bytes in base64, which upstream treats as text. */
const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve(text, onError) {
    try {
      const bytes = Uint8Array.from(atob(text.replaceAll(/\s/g, '')), (byte) => byte.charCodeAt(0))
      return new TextDecoder().decode(bytes)
    } catch {
      onError(notBase64)
      return text
    }
  },
}

/** Returns the tags of YAML 1.1, except dates, which stay text, and collections that JSON does not have. */
export function tagsOf(tags: Tags): Tags {
  const wanted = tags.filter(
    (tag) =>
      typeof tag === 'string' ||
      (!unwantedTags.has(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  )
  return [octal, binary, ...wanted]
}
