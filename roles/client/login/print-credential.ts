import { systemClock, systemRandom } from '@skerry/base'
import { currentTokens, execCredentialOf, readExecInfo } from './credential.ts'
import { loginDeps } from './login-deps.ts'

/** Prints an ExecCredential with the token of a login. Throws ExpectedError. */
export async function printOidcCredential(
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
  signal: AbortSignal,
): Promise<void> {
  const { apiVersion, isInteractive } = readExecInfo(process.env['KUBERNETES_EXEC_INFO'])
  const { directory, tell } = loginDeps()
  const options = { issuerUrl: issuer, clientId, directory, isInteractive }
  const deps = { clock: systemClock, random: systemRandom, tell }
  console.log(execCredentialOf(await currentTokens(options, deps, signal), apiVersion))
}

export interface CertificateFlags {
  readonly hub: string
  readonly caFile: string | undefined
  readonly certificate: string
  readonly key: string
}

/** Prints an ExecCredential with a user's certificate. Throws ExpectedError. */
export async function printCertificateCredential(
  { hub, caFile, certificate, key }: CertificateFlags,
  signal: AbortSignal,
): Promise<void> {
  const { certificateCredentialOf, currentCertificate } = await import('./user-certificate.ts')
  const { apiVersion } = readExecInfo(process.env['KUBERNETES_EXEC_INFO'])
  const options = { hub, caFile, certificateFile: certificate, keyFile: key }
  const deps = { clock: systemClock, random: systemRandom, tell: loginDeps().tell }
  console.log(certificateCredentialOf(await currentCertificate(options, deps, signal), apiVersion))
}
