import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { saveFile } from '../../data/browser/save-file.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { useHubInfo } from '../../data/hub/hub-info.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { readOffers } from '../../data/hub/session.ts'
import { kubeconfigOf, type KubeconfigLogin, type LoginIssuer } from '../../data/hub/kubeconfig.ts'
import { writeYaml } from '../../data/objects/yaml-writer.ts'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { CheckField } from '../../parts/check-field.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

interface Reachable {
  readonly clusters: readonly { readonly name: string }[]
}

interface Offers {
  readonly issuers: readonly LoginIssuer[]
}

/** Makes a kubeconfig without a secret in it. */
export function KubeconfigTab() {
  const hub = useHubInfo()
  const reachable = useQuery({
    queryKey: ['/hub/v1/clusters'],
    queryFn: ({ signal }) => askJson<Reachable>('/hub/v1/clusters', { signal }),
  })
  const offers = useQuery({ queryKey: ['issuers'], queryFn: ({ signal }) => readIssuers(signal) })
  const error = hub.error ?? reachable.error ?? offers.error
  if (error !== null) {
    const retry = (): void => {
      void hub.refetch()
      void reachable.refetch()
      void offers.refetch()
    }
    return <Failed error={asHubError(error)} onRetry={retry} />
  }
  if (hub.data === undefined || reachable.data === undefined || offers.data === undefined) {
    return <Loading />
  }
  return (
    <KubeconfigForm
      authority={hub.data.certificateAuthority}
      clusters={reachable.data.clusters.map(({ name }) => name)}
      issuer={offers.data.issuers[0]}
    />
  )
}

/** A hub without an issuer has no list of them. */
async function readIssuers(signal: AbortSignal): Promise<Offers> {
  const { issuer } = await readOffers()
  return issuer === null ? { issuers: [] } : askJson<Offers>('/hub/v1/login', { signal })
}

interface KubeconfigFormProps {
  readonly authority: string
  readonly clusters: readonly string[]
  readonly issuer: LoginIssuer | undefined
}

type LoginChoice = KubeconfigLogin['is']

/** The files of the person's machine that the kubeconfig names. */
interface LoginFiles {
  readonly token: string
  readonly certificate: string
  readonly key: string
}

function KubeconfigForm({ authority, clusters, issuer }: KubeconfigFormProps) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const [choice, setChoice] = useState<LoginChoice>(issuer === undefined ? 'token-file' : 'issuer')
  const [files, setFiles] = useState<LoginFiles>({
    token: 'hub-token',
    certificate: 'me.crt',
    key: 'me.key',
  })
  const [hasAuthority, setHasAuthority] = useState(true)
  const cluster = clusters.find((name) => name === values.cluster)
  const yaml = writeYaml(
    kubeconfigOf({
      server: window.location.origin,
      authority: hasAuthority ? authority : undefined,
      clusters: cluster === undefined ? clusters : [cluster],
      hasHub: cluster === undefined,
      login: loginOf(choice, files, issuer),
    }),
  )
  const all = [['', texts.everything(clusters.length)] as const]
  return (
    <>
      <p className="muted">{texts.kubeconfigHint}</p>
      <div className="fields">
        <div className="field">
          <ChoiceField
            label={texts.contexts}
            value={cluster ?? ''}
            choices={[...all, ...clusters.map((name) => [name, name] as const)]}
            onChange={(next) => setValues({ cluster: next })}
          />
        </div>
        <FileFields
          hasIssuer={issuer !== undefined}
          choice={choice}
          files={files}
          onChoice={setChoice}
          onFiles={(change) => setFiles({ ...files, ...change })}
        />
      </div>
      <CheckField label={texts.withAuthority} isChecked={hasAuthority} onChange={setHasAuthority} />
      {choice === 'issuer' ? <LoginLine /> : undefined}
      <Made name={`${cluster ?? 'hub'}.kubeconfig`} yaml={yaml} />
    </>
  )
}

function loginOf(
  choice: LoginChoice,
  files: LoginFiles,
  issuer: LoginIssuer | undefined,
): KubeconfigLogin {
  if (choice === 'issuer' && issuer !== undefined) return { is: 'issuer', issuer }
  if (choice === 'certificate') {
    return { is: 'certificate', certificatePath: files.certificate, keyPath: files.key }
  }
  return { is: 'token-file', path: files.token }
}

interface FileFieldsProps {
  readonly hasIssuer: boolean
  readonly choice: LoginChoice
  readonly files: LoginFiles
  readonly onChoice: (choice: LoginChoice) => void
  readonly onFiles: (change: Partial<LoginFiles>) => void
}

function FileFields({ hasIssuer, choice, files, onChoice, onFiles }: FileFieldsProps) {
  const texts = useTexts(both)
  const kinds: readonly (readonly [LoginChoice, string])[] = [
    ...(hasIssuer ? [['issuer', texts.logins.issuer] as const] : []),
    ['token-file', texts.logins.tokenFile],
    ['certificate', texts.logins.certificate],
  ]
  const file = (label: string, key: keyof LoginFiles) => (
    <TextField label={label} value={files[key]} onChange={(value) => onFiles({ [key]: value })} />
  )
  return (
    <>
      <div className="field">
        <ChoiceField label={texts.loginWith} value={choice} choices={kinds} onChange={onChoice} />
      </div>
      {choice === 'token-file' ? file(texts.tokenFile, 'token') : undefined}
      {choice === 'certificate' ? (
        <>
          {file(texts.certificateFile, 'certificate')}
          {file(texts.keyFile, 'key')}
        </>
      ) : undefined}
    </>
  )
}

/** kubectl uses the login that this command began on the same computer. */
function LoginLine() {
  const line = `skerry login ${window.location.origin}`
  return (
    <p className="command">
      <code>{line}</code>
      <CopyButton text={line} />
    </p>
  )
}

function Made({ name, yaml }: { readonly name: string; readonly yaml: string }) {
  const texts = useTexts(both)
  return (
    <div className="yaml is-short">
      <div className="yaml-actions">
        <button
          type="button"
          className="button is-main"
          onClick={() => saveFile(name, 'application/yaml', yaml)}
        >
          <Icon name="download" />
          {texts.download}
        </button>
        <CopyButton text={yaml} />
      </div>
      <pre tabIndex={0}>{yaml}</pre>
    </div>
  )
}
