import { UnreadableValueError, type Transformer } from './transformers/transformer.ts'

/** Begins every value that some provider has encrypted. */
const encryptedPrefix = Buffer.from('k8s:enc:')

/** What is read without a configuration for its resource. */
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

/** Providers of one resource, in order: the first writes, all read. */
export interface TransformerChain {
  seal(value: Uint8Array, context: string): Uint8Array
  /** Throws UnreadableValueError. */
  open(value: Uint8Array, context: string): Uint8Array
  /** To be awaited before `open`; undefined: it may open now. Never rejects. */
  fetch(value: Uint8Array): Promise<void> | undefined
  /** True when a write would keep the value in another way. */
  isStale(value: Uint8Array): boolean
}

/** Refusals name the storage path and upstream's reason. */
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
          // Identity stands beside keys that may still open it.
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
