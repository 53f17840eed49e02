/** An object as YAML: to read, and to change by server-side apply, with a dry run first. */
import { lazy, Suspense, useState } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { objectPath, type ObjectName } from '../data/hub/api-paths.ts'
import {
  applyObject,
  applySeen,
  conflictsOf,
  presentYaml,
  type Applied,
} from '../data/objects/apply-object.ts'
import { asHubError, type HubError } from '../data/hub/hub-error.ts'
import { hubAheadMs } from '../data/hub/hub-clock.ts'
import { askJson } from '../data/hub/hub-request.ts'
import { editableYaml, readableYaml } from '../data/objects/editable-object.ts'
import { useMay } from '../data/hub/rights.ts'
import { useTexts } from '../words/language.ts'
import { Age } from './age.tsx'
import { Failed, Loading } from './answer-state.tsx'
import { CopyButton } from './copy-button.tsx'
import { FaultLine } from './fault-line.tsx'
import { yamlTexts } from './yaml-texts.ts'

const YamlEditor = lazy(async () => ({ default: (await import('./yaml-editor.tsx')).YamlEditor }))
const YamlDifference = lazy(async () => ({
  default: (await import('./yaml-difference.tsx')).YamlDifference,
}))

interface ObjectYamlProps {
  readonly cluster: string | undefined
  readonly object: ObjectName
  /** Shows what a checked change would lead to, under its difference. */
  readonly outcome?: Outcome
}

/** Draws the consequences of an object as the server would have it. */
type Outcome = (object: Readonly<Record<string, unknown>>) => React.ReactNode

export function ObjectYaml({ cluster, object, outcome }: ObjectYamlProps) {
  const texts = useTexts(yamlTexts)
  const [isEditing, setEditing] = useState(false)
  const path = objectPath(cluster, object)
  const mayEdit = useMay(cluster, { verb: 'patch', object })
  const { data, dataUpdatedAt, error, isFetching, refetch } = useQuery({
    queryKey: [path, 'exact'],
    queryFn: ({ signal }) =>
      askJson<Readonly<Record<string, unknown>>>(path, { signal, isExact: true }),
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  // An old text would undo the changes of others.
  const beginEdit = async (): Promise<void> => setEditing((await refetch()).isSuccess)
  if (isEditing) {
    return (
      <EditYaml
        cluster={cluster}
        path={path}
        before={editableYaml(data)}
        onEnd={() => setEditing(false)}
        {...(outcome === undefined ? {} : { outcome })}
      />
    )
  }
  const yaml = readableYaml(data)
  return (
    <div className="yaml">
      <div className="yaml-actions">
        {mayEdit === true ? (
          <button
            type="button"
            className="button"
            disabled={isFetching}
            onClick={() => void beginEdit()}
          >
            {texts.edit}
          </button>
        ) : undefined}
        <CopyButton text={yaml} />
        <button
          type="button"
          className="button"
          disabled={isFetching}
          onClick={() => void refetch()}
        >
          {texts.readAgain}
        </button>
        <span className="muted">
          {texts.read} <Age atMs={dataUpdatedAt + hubAheadMs()} />
        </span>
      </div>
      <pre tabIndex={0}>{yaml}</pre>
    </div>
  )
}

interface EditYamlProps {
  /** Undefined for the hub's own objects. */
  readonly cluster: string | undefined
  readonly path: string
  /** The object as it is; empty for one that is to be made. */
  readonly before: string
  /** The text to begin with. If omitted, the object as it is. */
  readonly first?: string
  readonly outcome?: Outcome
  readonly onEnd: () => void
  /** If omitted, `onEnd` is called. */
  readonly onApplied?: () => void
}

type Step =
  | { readonly is: 'editing'; readonly error?: HubError }
  | { readonly is: 'checking' | 'applying' }
  | {
      readonly is: 'checked'
      readonly applied: Applied
      readonly isForced: boolean
      /** The object as it is now; empty if there is none. */
      readonly present: string
    }

export function EditYaml(props: EditYamlProps) {
  const { cluster, path, before, first = before, outcome, onEnd, onApplied = onEnd } = props
  const texts = useTexts(yamlTexts)
  const queries = useQueryClient()
  const [yaml, setYaml] = useState(first)
  const [step, setStep] = useState<Step>({ is: 'editing' })
  const check = async (isForced: boolean): Promise<void> => {
    setStep({ is: 'checking' })
    try {
      const applied = await applyObject({ path, yaml, isDryRun: true, isForced })
      setStep({ is: 'checked', applied, isForced, present: await presentYaml(path) })
    } catch (thrown) {
      setStep({ is: 'editing', error: asHubError(thrown) })
    }
  }
  const apply = async (isForced: boolean, seen: string): Promise<void> => {
    setStep({ is: 'applying' })
    try {
      if (!(await applySeen({ path, yaml, isForced }, seen))) return await check(isForced)
      await queries.invalidateQueries({ queryKey: [path] })
      onApplied()
    } catch (thrown) {
      setStep({ is: 'editing', error: asHubError(thrown) })
    }
  }
  const error = step.is === 'editing' ? step.error : undefined
  return (
    <div className="yaml">
      <Actions
        step={step}
        isChanged={yaml !== before}
        onCheck={() => void check(false)}
        onApply={(isForced, seen) => void apply(isForced, seen)}
        onEdit={() => setStep({ is: 'editing' })}
        onEnd={onEnd}
      />
      {error === undefined ? undefined : (
        <ApplyFault error={error} onForce={() => void check(true)} />
      )}
      {step.is === 'checked' ? (
        <Warnings
          texts={[
            ...(step.present === before ? [] : [texts.changedMeanwhile]),
            ...step.applied.warnings,
          ]}
        />
      ) : undefined}
      <Suspense fallback={<Loading />}>
        {step.is === 'checked' ? (
          <YamlDifference
            label={texts.difference}
            before={step.present}
            after={step.applied.yaml}
          />
        ) : (
          <YamlEditor label={texts.edit} text={yaml} cluster={cluster} onChange={setYaml} />
        )}
      </Suspense>
      {step.is === 'checked' ? outcome?.(step.applied.object) : undefined}
    </div>
  )
}

interface ActionsProps {
  readonly step: Step
  readonly isChanged: boolean
  readonly onCheck: () => void
  readonly onApply: (isForced: boolean, seen: string) => void
  readonly onEdit: () => void
  readonly onEnd: () => void
}

function Actions({ step, isChanged, onCheck, onApply, onEdit, onEnd }: ActionsProps) {
  const texts = useTexts(yamlTexts)
  return (
    <div className="yaml-actions">
      {step.is === 'checked' ? (
        <>
          <button
            type="button"
            className="button is-main"
            onClick={() => onApply(step.isForced, step.present)}
          >
            {step.isForced ? texts.applyForced : texts.apply}
          </button>
          <button type="button" className="button" onClick={onEdit}>
            {texts.editOn}
          </button>
        </>
      ) : (
        <button
          type="button"
          className="button is-main"
          disabled={step.is !== 'editing' || !isChanged}
          onClick={onCheck}
        >
          {texts.check}
        </button>
      )}
      <button type="button" className="button" onClick={onEnd}>
        {texts.discard}
      </button>
      <span className="muted">{step.is === 'checked' ? texts.checked : texts.hint}</span>
    </div>
  )
}

function Warnings({ texts }: { readonly texts: readonly string[] }) {
  return texts.map((text) => (
    <p key={text} className="banner tone-warn">
      ▲ {text}
    </p>
  ))
}

/** Another manager's fields are taken over only by a second, deliberate step. */
function ApplyFault({
  error,
  onForce,
}: {
  readonly error: HubError
  readonly onForce: () => void
}) {
  const texts = useTexts(yamlTexts)
  const conflicts = conflictsOf(error)
  if (conflicts.length === 0) return <FaultLine fault={error} />
  return (
    <div className="fault" role="alert">
      <p>{texts.conflicts}</p>
      <ul className="plain">
        {conflicts.map(({ field, message }) => (
          <li key={field}>
            <code>{field}</code> {message}
          </li>
        ))}
      </ul>
      <button type="button" className="button is-bad" onClick={onForce}>
        {texts.takeOver}
      </button>
    </div>
  )
}
