import { listPath } from '../../data/hub/api-paths.ts'
import { useWatched } from '../../data/streams/console-context.tsx'
import type { EdgeClusterObject } from '../../data/edge/edge-cluster.ts'
import { loginLabel, removeLogin } from '../../data/hub/login-secret.ts'
import { tableRows } from '../../data/objects/table-rows.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const secrets = { group: '', version: 'v1', resource: 'secrets' }

/** The logins that a form or a command has made for this cluster. Only their names come to the browser. */
export function Logins({ edge }: { readonly edge: EdgeClusterObject }) {
  const texts = useTexts(both)
  const { name, namespace } = edge.metadata
  const label = encodeURIComponent(`${loginLabel}=${name}`)
  const path = `${listPath(undefined, secrets, namespace)}?labelSelector=${label}`
  const view = useWatched(path, true)
  const names = tableRows(view).flatMap(({ metadata }) => metadata.name ?? [])
  if (names.length === 0) return undefined
  return (
    <section className="panel">
      <h2>{texts.logins}</h2>
      <p className="muted">{texts.loginsHint}</p>
      <ul className="plain">
        {names.map((secret) => (
          <li key={secret} className="row">
            <code>{secret}</code>
            <Allowed action={{ verb: 'delete', object: { ...secrets, namespace, name: secret } }}>
              <DeleteLogin namespace={namespace} name={secret} />
            </Allowed>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface DeleteLoginProps {
  readonly namespace: string
  readonly name: string
}

function DeleteLogin({ namespace, name }: DeleteLoginProps) {
  const texts = useTexts(both)
  const action = useAction()
  return (
    <ConfirmButton
      label={texts.deleteLogin}
      action={action}
      act={() => removeLogin({ namespace, name })}
    >
      <p>{texts.deleteLoginText}</p>
    </ConfirmButton>
  )
}
