/** The unencrypted offer of a TLS client, as far as it has arrived. */
export type ClientHello =
  | { readonly isWhole: false }
  /**
   * The protocols offered by ALPN. The list is empty if this is not a TLS hello; TLS itself will
   * report that.
   */
  | { readonly isWhole: true; readonly protocols: readonly string[] }

const handshakeRecord = 22
const clientHello = 1
const recordHeadBytes = 5
/**
 * See RFC 8446, section 5.1. A hello in several records is not read: no client that offers ALPN
 * sends one.
 */
const recordBytesMax = 16_384
const alpnExtension = 16

const nothing: ClientHello = Object.freeze({ isWhole: true, protocols: Object.freeze([]) })

/**
 * Reads the first bytes of a connection: RFC 8446, section 4.1.2, and RFC 7301, section 3.1. Never
 * throws.
 */
export function parseClientHello(bytes: Buffer): ClientHello {
  if (bytes.length > 0 && bytes[0] !== handshakeRecord) return nothing
  if (bytes.length < recordHeadBytes) return { isWhole: false }
  const length = bytes.readUInt16BE(3)
  if (length > recordBytesMax) return nothing
  const end = recordHeadBytes + length
  if (bytes.length < end) return { isWhole: false }
  const protocols = protocolsOf(new Reader(bytes.subarray(recordHeadBytes, end)))
  return protocols ? { isWhole: true, protocols } : nothing
}

/** Returns undefined if the hello is cut off or is something else. */
function protocolsOf(hello: Reader): string[] | undefined {
  if (hello.number(1) !== clientHello) return undefined
  const body = hello.vector(3)
  // Skips version and random; then session, ciphers and compressions.
  body?.skip(34)
  if (!body?.vector(1) || !body.vector(2) || !body.vector(1)) return undefined
  const extensions = body.vector(2)
  while (extensions && extensions.left > 0) {
    const type = extensions.number(2)
    const extension = extensions.vector(2)
    if (!extension) return undefined
    if (type === alpnExtension) return names(extension.vector(2))
  }
  return undefined
}

function names(list: Reader | undefined): string[] | undefined {
  const found: string[] = []
  while (list && list.left > 0) {
    const name = list.vector(1)
    if (!name) return undefined
    found.push(name.text())
  }
  return found
}

/** Reads numbers and vectors. Beyond the end, numbers are zero and vectors undefined. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  skip(bytes: number): void {
    this.#at = Math.min(this.#at + bytes, this.#bytes.length)
  }

  /** Reads a number of 1, 2 or 3 bytes. */
  number(bytes: 1 | 2 | 3): number {
    const value = this.left < bytes ? 0 : this.#bytes.readUIntBE(this.#at, bytes)
    this.skip(bytes)
    return value
  }

  /** Reads a vector, whose length precedes it in this many bytes. */
  vector(lengthBytes: 1 | 2 | 3): Reader | undefined {
    if (this.left < lengthBytes) return undefined
    const length = this.number(lengthBytes)
    if (this.left < length) return undefined
    const part = new Reader(this.#bytes.subarray(this.#at, this.#at + length))
    this.skip(length)
    return part
  }

  text(): string {
    return this.#bytes.toString('latin1')
  }
}
