/** Texts in base64, as Secrets and kubeconfigs have them. Older browsers have functions for single bytes only. */

export function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

export function fromBase64(encoded: string): string {
  const bytes = Uint8Array.from(atob(encoded), (sign) => sign.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}
