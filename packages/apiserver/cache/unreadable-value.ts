interface StoredValue {
  readonly value: Uint8Array
  readonly isDamaged?: true
}

const prefix = 'k8s:unreadable:'

/** Replaces a value that cannot be decrypted. No object starts with it: JSON objects start with a brace. */
export function unreadableValue(reason: string): Uint8Array {
  return Buffer.from(`${prefix}${reason}`)
}

/** Returns why a value from the store cannot be read, or undefined if it can. */
export function unreadableReason({ value, isDamaged }: StoredValue): string | undefined {
  if (isDamaged) return 'the stored data is damaged: its checksum does not match'
  // A brace is by far the usual case.
  if (value[0] === 0x7b) return undefined
  const text = Buffer.from(value).toString('utf8')
  if (text.startsWith(prefix)) return text.slice(prefix.length)
  return text.startsWith('k8s:enc:')
    ? 'identity transformer tried to read encrypted data'
    : undefined
}
