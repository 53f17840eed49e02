/** Key usages in RFC 5280's words (section 4.2.1.3), with their bit in @peculiar/x509's flags. */
export const keyUsages = Object.freeze({
  digitalSignature: 1,
  nonRepudiation: 2,
  keyEncipherment: 4,
  dataEncipherment: 8,
  keyAgreement: 16,
  keyCertSign: 32,
  cRLSign: 64,
  encipherOnly: 128,
  decipherOnly: 256,
})
export type KeyUsage = keyof typeof keyUsages

/** Extended key usages (RFC 5280, section 4.2.1.12) by object identifier. */
export const extendedUsages = Object.freeze({
  any: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
})

export function keyUsageBits(usages: readonly KeyUsage[]): number {
  return usages.reduce((bits, usage) => bits | keyUsages[usage], 0)
}
