/** Reads the key and the name out of a signing request (PKCS #10, RFC 2986), of which a person compares the fingerprint. */

/** One value of DER (X.690): its tag, its content, and itself with its head. */
interface DerValue {
  readonly tag: number
  readonly content: Uint8Array<ArrayBuffer>
  readonly whole: Uint8Array<ArrayBuffer>
}

export interface SigningRequest {
  /** `sha256:<hex>` of the key's SubjectPublicKeyInfo; the agent logs the same. */
  readonly fingerprint: string
  /** Empty if the subject has none. */
  readonly commonName: string
}

const sequence = 0x30

/** Reads the base64 of a PEM text, as a CertificateSigningRequest has it. Throws a RangeError for anything else. */
export async function readSigningRequest(base64: string): Promise<SigningRequest> {
  const pem = atob(base64)
  const [, body = ''] = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]+?)-----END/.exec(pem) ?? []
  const der = Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (sign) => sign.charCodeAt(0))
  const [request] = valuesIn(der)
  const [info] = request?.tag === sequence ? valuesIn(request.content) : []
  const [, subject, key] = info?.tag === sequence ? valuesIn(info.content) : []
  if (subject?.tag !== sequence || key?.tag !== sequence) {
    throw new RangeError('Cannot read signing request: it has no subject or no key')
  }
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', key.whole))
  return { fingerprint: `sha256:${digest.toHex()}`, commonName: commonNameIn(subject) }
}

/** The object identifier 2.5.4.3. */
const commonNameId = [0x55, 0x04, 0x03]

function commonNameIn({ content }: DerValue): string {
  for (const set of valuesIn(content)) {
    for (const attribute of valuesIn(set.content)) {
      const [id, value] = valuesIn(attribute.content)
      if (id === undefined || value === undefined) continue
      const isName = commonNameId.every((byte, index) => id.content[index] === byte)
      if (isName && id.content.length === 3) return new TextDecoder().decode(value.content)
    }
  }
  return ''
}

/** Lists the values that stand one behind the other. A length that leads outside ends the list. */
function valuesIn(bytes: Uint8Array<ArrayBuffer>): DerValue[] {
  const found: DerValue[] = []
  for (let at = 0; at + 2 <= bytes.length;) {
    const tag = bytes[at] ?? 0
    const first = bytes[at + 1] ?? 0
    const count = first < 0x80 ? 0 : first & 0x7f
    const head = 2 + count
    let length = first < 0x80 ? first : 0
    for (const byte of bytes.subarray(at + 2, at + head)) length = length * 256 + byte
    const end = at + head + length
    if (end > bytes.length) break
    found.push({ tag, content: bytes.slice(at + head, end), whole: bytes.slice(at, end) })
    at = end
  }
  return found
}
