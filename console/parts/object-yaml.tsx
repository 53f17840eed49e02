import { useQuery } from '@tanstack/react-query'
import { objectPath, type ObjectName } from '../data/api-paths.ts'
import { asHubError } from '../data/hub-error.ts'
import { askHub } from '../data/hub-request.ts'
import { withoutManagedFields } from '../data/yaml-text.ts'
import { Failed, Loading } from './answer-state.tsx'
import { CopyButton } from './copy-button.tsx'

interface ObjectYamlProps {
  readonly cluster: string | undefined
  readonly object: ObjectName
}

/** An object as the server writes it, without the book of its managers. */
export function ObjectYaml({ cluster, object }: ObjectYamlProps) {
  const path = objectPath(cluster, object)
  const { data, error, refetch } = useQuery({
    queryKey: ['yaml', path],
    queryFn: async ({ signal }) =>
      withoutManagedFields(
        await (await askHub(path, { accept: 'application/yaml', signal })).text(),
      ),
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  return (
    <div className="yaml">
      <div className="yaml-actions">
        <CopyButton text={data} />
      </div>
      <pre tabIndex={0}>{data}</pre>
    </div>
  )
}
