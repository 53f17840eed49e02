import { loginDeps } from './login-deps.ts'
import { kubeconfigDefault, logIn, logOut, type LoginOptions } from './login.ts'
import { openInBrowser } from './open-in-browser.ts'

export interface LoginFlags extends Omit<LoginOptions, 'isDevice' | 'port' | 'outputFile'> {
  readonly device: boolean | undefined
  readonly open: boolean | undefined
  readonly port: number | undefined
  readonly outputFile: string | undefined
  readonly output: string | undefined
}

/** Logs a person in, and prints where the contexts are. Throws ExpectedError. */
export async function printLogin(
  { device, open, output, port = 0, ...flags }: LoginFlags,
  signal: AbortSignal,
): Promise<void> {
  const outputFile = flags.outputFile ?? kubeconfigDefault(process.env)
  const deps = { ...loginDeps(), ...(open === true ? { open: openInBrowser } : {}) }
  const done = await logIn({ ...flags, port, outputFile, isDevice: device === true }, deps, signal)
  if (output === 'json') return console.log(JSON.stringify(done))
  console.log(`Logged in. ${done.file} has the contexts ${done.contexts.join(', ')}.`)
}

/** Ends the logins for a hub, and prints which. Throws ExpectedError if there is none. */
export async function printLogout(
  hub: string,
  output: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const ended = await logOut(hub, loginDeps().directory, signal)
  if (output === 'json') return console.log(JSON.stringify(ended))
  for (const { issuer, hubs, notRevoked } of ended) {
    console.log(`Logged out at ${issuer}, for ${hubs.join(', ')}.`)
    if (notRevoked !== undefined) console.error(`skerry: ${notRevoked}`)
  }
}
