/** Flags of the JavaScript engine for each role: small boxes before peak speed. */
export const engineFlags: Readonly<Record<string, readonly string[]>> = Object.freeze({
  hub: ['--max-semi-space-size=4'],
  site: ['--max-semi-space-size=4'],
  node: ['--max-semi-space-size=2'],
})
