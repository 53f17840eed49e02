import { ExpectedError, exitCodes, linkedSignal, type Clock } from '@skerry/base'
import { openOidcIssuer, type OidcClient, type OidcTokens } from '@skerry/client'
import { clientBounds } from '../limits-table.ts'

export interface LogInOptions {
  /** True logs in without a browser on this machine. */
  readonly isDevice: boolean
  /** The port to which the browser returns; 0 means a free one. */
  readonly port: number
  readonly tell: (text: string) => void
  /** Opens the address, in addition to printing it. */
  readonly open?: (url: string) => void
  readonly clock: Pick<Clock, 'setTimer'>
}

const { personMsMax } = clientBounds.logInAt

/** The person logs in at the issuer, with whatever it asks of them. Throws ExpectedError. */
export async function logInAt(
  client: OidcClient,
  { isDevice, port, tell, open, clock }: LogInOptions,
  signal: AbortSignal,
): Promise<OidcTokens> {
  using scope = linkedSignal(signal)
  const late = `Cannot log in at ${client.issuerUrl}: no login was completed within ${personMsMax / 60_000} minutes; try again`
  using _timer = clock.setTimer(personMsMax, () =>
    scope.abort(new ExpectedError(late, exitCodes.failure)),
  )
  const issuer = await openOidcIssuer(client, { clock }, scope.signal)
  if (isDevice) {
    return await issuer.logInByDevice(({ url, code }) => {
      tell(`Open ${url} on any device, and enter the code ${code}`)
      open?.(url)
    })
  }
  return await issuer.logInByBrowser(port, (url) => {
    tell(`Open this address in a browser of this machine:\n\n  ${url}\n`)
    open?.(url)
  })
}
