import { createHmac } from 'node:crypto'

/** RFC 7515 with the payload left out (appendix F), HS256 under a secret that both sides know. */
export function detachedSignature(
  content: string,
  { id, secret }: { readonly id: string; readonly secret: string },
): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: id }))
  const signed = `${header}.${base64url(content)}`
  return `${header}..${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
