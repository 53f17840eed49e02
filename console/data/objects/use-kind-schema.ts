import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { timeLimits } from '../../limits-table.ts'
import { apiBase } from '../hub/api-paths.ts'
import { asHubError, type HubError } from '../hub/hub-error.ts'
import { askJson } from '../hub/hub-request.ts'
import {
  documentPath,
  kindSchema,
  type KindSchema,
  type OpenApiDocument,
  type OpenApiIndex,
} from './open-api.ts'

export interface KindSchemaAnswer {
  readonly schema: KindSchema | undefined
  readonly error: HubError | undefined
}

/** Asks the server of an object what it knows of the object's kind. Both are undefined until it has answered. */
export function useKindSchema(
  cluster: string | undefined,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): KindSchemaAnswer {
  const base = apiBase(cluster)
  const index = useQuery({
    queryKey: ['open-api', base],
    staleTime: timeLimits.schemaMs,
    queryFn: ({ signal }) => askJson<OpenApiIndex>(`${base}/openapi/v3`, { signal }),
  })
  const path = index.data === undefined ? undefined : documentPath(index.data, apiVersion)
  const { data, error } = useQuery({
    queryKey: ['open-api', base, path],
    // The path has a hash of the document in it.
    staleTime: Infinity,
    enabled: path !== undefined,
    queryFn: ({ signal }) => askJson<OpenApiDocument>(`${base}${path ?? ''}`, { signal }),
  })
  const schema = useMemo(
    () => (data === undefined ? undefined : kindSchema(data, apiVersion, kind)),
    [data, apiVersion, kind],
  )
  const failure = index.error ?? error
  return { schema, error: failure === null ? undefined : asHubError(failure) }
}
