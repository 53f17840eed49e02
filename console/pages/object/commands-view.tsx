import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { objectPath, type ObjectName } from '../../data/hub/api-paths.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { objectCommands, type PortOwner } from '../../data/objects/object-commands.ts'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

interface CommandsViewProps {
  readonly cluster: string | undefined
  readonly object: ObjectName
}

/** How to do the same in a terminal, and how to reach the ports of a pod or service from one's own computer. */
export function CommandsView({ cluster, object }: CommandsViewProps) {
  const texts = useTexts(both)
  const path = objectPath(cluster, object)
  const { data, error, refetch } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<PortOwner>(path, { signal }),
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const query = cluster === undefined ? '' : `?cluster=${encodeURIComponent(cluster)}`
  const commands = objectCommands(cluster, object, data)
  return (
    <section className="panel">
      <p className="muted">
        {texts.commandsHint}{' '}
        <Link href={`/access/kubeconfig${query}`} className="is-underlined">
          Kubeconfig
        </Link>
      </p>
      {commands.map(({ key, text }) => (
        <div key={text}>
          <p>{texts.commands[key]}</p>
          <p className="command">
            <code>{text}</code>
            <CopyButton text={text} />
          </p>
        </div>
      ))}
    </section>
  )
}
