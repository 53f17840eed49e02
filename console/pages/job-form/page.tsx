/** The form of a job that changes machines. The hub checks it at each pause. */
import { useEffect, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { listPath } from '../../data/hub/api-paths.ts'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { edgeJobs, type EdgeJobObject } from '../../data/edge/edge-job.ts'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import type { Action } from '../../data/hub/rights.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { writeYaml } from '../../data/objects/yaml-writer.ts'
import { timeLimits } from '../../limits-table.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { ChoiceFields, WorkFields } from './job-fields.tsx'
import { edgeJobOf, emptyJob, heldVersions, jobFaults, type JobForm } from './job-form.ts'
import { texts as both } from './texts.ts'

export function JobFormPage() {
  const texts = useTexts(both)
  const [, navigate] = useLocation()
  const [form, setForm] = useState<JobForm>(emptyJob)
  const action = useAction()
  const check = useCheck(form)
  const versions = useVersions()
  const set = (change: Partial<JobForm>): void => setForm({ ...form, ...change })
  const fault = action.fault ?? check.error
  const faults = jobFaults(fault?.facts.causes ?? [])
  const create = (): Promise<boolean> =>
    action.run(async () => {
      const request = { method: 'POST', body: edgeJobOf(form) } as const
      const { metadata } = await askJson<EdgeJobObject>(jobsPath(form), request)
      const { namespace, name } = metadata
      navigate(`/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`)
    })
  return (
    <PageFrame title={texts.title} above={<Link href="/jobs">{texts.above}</Link>}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <WorkFields form={form} set={set} faults={faults} versions={versions} />
        <ChoiceFields form={form} set={set} faults={faults} />
        <div className="form-end">
          {faults.size > Number(faults.has('')) ? undefined : <FaultLine fault={fault} />}
          <Allowed action={createIn(form)} isExplained isLenient>
            <button
              type="submit"
              className="button is-main"
              disabled={action.isBusy || !check.isGood}
            >
              {texts.create}
            </button>
          </Allowed>
          {check.isGood ? <span className="tone-ok freshness">● {texts.good}</span> : undefined}
          <span className="page-space" />
          <CopyButton label={texts.asYaml} text={writeYaml(edgeJobOf(form))} />
        </div>
      </form>
    </PageFrame>
  )
}

function createIn(form: JobForm): Action {
  return { verb: 'create', object: { ...edgeJobs, namespace: namespaceOf(form), name: '' } }
}

function namespaceOf({ namespace }: JobForm): string {
  return namespace.trim() || 'default'
}

function jobsPath(form: JobForm): string {
  return listPath(undefined, edgeJobs, namespaceOf(form))
}

interface Check {
  readonly isGood: boolean
  readonly error?: HubError
}

/** Lets the hub check the form after each pause, without making anything. */
function useCheck(form: JobForm): Check {
  const [check, setCheck] = useState<Check>({ isGood: false })
  // A form that names no clusters yet is not wrong.
  const isBegun = form.names.trim() !== '' || form.labels.trim() !== ''
  useEffect(() => {
    setCheck({ isGood: false })
    if (!isBegun) return
    const stop = new AbortController()
    const { signal } = stop
    const ask = async (): Promise<void> => {
      try {
        const path = `${jobsPath(form)}?dryRun=All`
        await askJson(path, { method: 'POST', body: edgeJobOf(form), signal })
        setCheck({ isGood: true })
      } catch (thrown) {
        if (!signal.aborted) setCheck({ isGood: false, error: asHubError(thrown) })
      }
    }
    const timer = browserClock.after(timeLimits.pauseMs, () => void ask())
    return () => {
      timer.cancel()
      stop.abort()
    }
  }, [form, isBegun])
  return check
}

const programs = '/api/v1/namespaces/kube-public/configmaps/machine-programs'

interface Published {
  readonly data?: { readonly programs?: string }
}

/** The hub publishes the list from its first program on. */
function useVersions(): readonly string[] {
  const { data } = useQuery({
    queryKey: [programs],
    queryFn: ({ signal }) => askJson<Published>(programs, { signal }).catch((): Published => ({})),
  })
  return heldVersions(data?.data?.programs ?? '')
}
