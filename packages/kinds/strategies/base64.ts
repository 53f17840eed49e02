const utf8 = new TextEncoder()

/** The text's UTF-8 bytes in standard base64 with padding. */
export function encodeBase64(text: string): string {
  let binary = ''
  for (const byte of utf8.encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** How many bytes standard base64 text stands for. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.floor((base64.length * 3) / 4) - padding
}
