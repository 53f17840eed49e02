import { UnreadableValueError, type Transformer } from './transformers/transformer.ts'

/** The prefix of every encrypted value, whatever the provider. */
const encryptedPrefix = Buffer.from('k8s:enc:')

/** Reads values of resources without a configuration. */
export const identityTransformer: Transformer = Object.freeze<Transformer>({
  prefix: '',
  seal: (value) => value,
  open(value) {
    if (isEncryptedValue(value)) {
      throw new UnreadableValueError('identity transformer tried to read encrypted data')
    }
    return value
  },
})

export function isEncryptedValue(value: Uint8Array): boolean {
  return startsWith(value, encryptedPrefix)
}

/** The providers of one resource, in order: the first one writes, all read. */
export interface TransformerChain {
  seal(value: Uint8Array, context: string): Uint8Array
  /** Throws UnreadableValueError. */
  open(value: Uint8Array, context: string): Uint8Array
  /** Await this before `open`. Returns undefined if the value can be opened now. Never rejects. */
  fetch(value: Uint8Array): Promise<void> | undefined
  /** Returns true if a write would store the value differently. */
  isStale(value: Uint8Array): boolean
}

/** Errors name the storage path and upstream's reason. */
export function chainTransformers(transformers: readonly Transformer[]): TransformerChain {
  const links = transformers.map((transformer) => ({
    transformer,
    prefix: Buffer.from(transformer.prefix),
  }))
  const [first = { transformer: identityTransformer, prefix: Buffer.alloc(0) }] = links
  const fetching = links.filter(({ transformer }) => transformer.fetch)
  return {
    seal(value, context) {
      const sealed = first.transformer.seal(value, context)
      return first.prefix.length === 0 ? sealed : Buffer.concat([first.prefix, sealed])
    },
    open(value, context) {
      const reasons: string[] = []
      for (const { transformer, prefix } of links) {
        if (!startsWith(value, prefix)) continue
        try {
          return transformer.open(value.subarray(prefix.length), context)
        } catch (error) {
          if (!(error instanceof UnreadableValueError)) throw error
          // The identity provider is listed with keys that may still open the value.
          if (prefix.length > 0) reasons.push(error.message)
        }
      }
      throw new UnreadableValueError(refusal(reasons))
    },
    fetch(value) {
      for (const { transformer, prefix } of fetching) {
        if (startsWith(value, prefix)) return transformer.fetch?.(value.subarray(prefix.length))
      }
      return undefined
    },
    isStale(value) {
      if (first.prefix.length === 0) return isEncryptedValue(value)
      if (!startsWith(value, first.prefix)) return true
      return first.transformer.isStale?.(value.subarray(first.prefix.length)) ?? false
    },
  }
}

function refusal(reasons: readonly string[]): string {
  const [only = 'no matching prefix found'] = reasons
  return reasons.length > 1 ? `[${reasons.join(', ')}]` : only
}

function startsWith(value: Uint8Array, prefix: Uint8Array): boolean {
  if (value.length < prefix.length) return false
  for (let at = 0; at < prefix.length; at += 1) if (value[at] !== prefix[at]) return false
  return true
}
