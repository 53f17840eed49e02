/** gRPC's status codes that a server of etcd's API sends (grpc.io, "Status codes and their use"). */
export const grpcCodes = Object.freeze({
  ok: 0,
  canceled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
})
export type GrpcCode = keyof typeof grpcCodes

/** Ends a call with this status. Clients match on the text. */
export class GrpcError extends Error {
  override name = 'GrpcError'
  readonly code: GrpcCode
  constructor(code: GrpcCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Writes a status text as the header grpc-message: percent-encoded UTF-8 (PROTOCOL-HTTP2.md, "Responses"). */
export function encodedStatusText(text: string): string {
  let encoded = ''
  for (const byte of Buffer.from(text, 'utf8')) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25
    encoded += isPlain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}
