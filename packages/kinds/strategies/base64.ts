const utf8 = new TextEncoder()

/** Encodes the text's UTF-8 bytes in standard base64 with padding. */
export function encodeBase64(text: string): string {
  let binary = ''
  for (const byte of utf8.encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Returns how many bytes a standard base64 text encodes. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.floor((base64.length * 3) / 4) - padding
}
