interface StoredValue {
  readonly value: Uint8Array
  readonly isDamaged?: true
}

const prefix = 'k8s:unreadable:'

/** Stands for a value that cannot be decrypted. No object begins so: JSON objects begin with a brace. */
export function unreadableValue(reason: string): Uint8Array {
  return Buffer.from(`${prefix}${reason}`)
}

/** Why a value that the store handed out cannot be read; undefined for one that can. */
export function unreadableReason({ value, isDamaged }: StoredValue): string | undefined {
  if (isDamaged) return 'the stored data is damaged: its checksum does not match'
  // A brace: by far the usual case.
  if (value[0] === 0x7b) return undefined
  const text = Buffer.from(value).toString('utf8')
  if (text.startsWith(prefix)) return text.slice(prefix.length)
  return text.startsWith('k8s:enc:')
    ? 'identity transformer tried to read encrypted data'
    : undefined
}
