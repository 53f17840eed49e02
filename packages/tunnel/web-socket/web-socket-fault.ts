/** The codes of RFC 6455, 7.4.1, that are sent here. */
export const closeCodes = Object.freeze({
  normal: 1_000,
  goingAway: 1_001,
  protocolError: 1_002,
  unsupportedData: 1_003,
  /** Never sent: a close without a code. */
  none: 1_005,
  /** Never sent: there was no close. */
  cut: 1_006,
  invalidText: 1_007,
  tooBig: 1_009,
})

/** The other end does not keep to RFC 6455, or to what is asked of it here. */
export class WebSocketFault extends Error {
  override name = 'WebSocketFault'
  /** To close with. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
