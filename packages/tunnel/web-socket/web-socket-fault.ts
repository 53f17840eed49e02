/** The codes of RFC 6455, 7.4.1, that are sent here. */
export const closeCodes = Object.freeze({
  normal: 1_000,
  goingAway: 1_001,
  protocolError: 1_002,
  unsupportedData: 1_003,
  /** Stands for a close without a code; never sent. */
  none: 1_005,
  /** Stands for a missing close; never sent. */
  cut: 1_006,
  invalidText: 1_007,
  tooBig: 1_009,
})

/** The other end violates RFC 6455, or this endpoint's further rules. */
export class WebSocketFault extends Error {
  override name = 'WebSocketFault'
  /** The code to close with. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
