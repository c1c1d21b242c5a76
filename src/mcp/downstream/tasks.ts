import { isJsonObject, member, textMember } from '../../words/json.ts'
import { EXTENSION_TASKS } from '../wire/envelope.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { ownResult } from './answers.ts'
import { callTool } from './calls.ts'
import type { FrontDoor } from './front-door.ts'
import type { DownstreamLimits } from './options.ts'
import type { Peer } from './peer.ts'
import { failure } from './reply.ts'
import { type ClientRequest, type Outlet, ownerKey } from './request.ts'
import { TaskOutlet } from './task-outlet.ts'

/** Long calls that their clients hold as tasks (extension `io.modelcontextprotocol/tasks`). Each is its owner's alone. */
export class Tasks {
  readonly #byId = new Map<string, TaskOutlet>()
  readonly #limits: DownstreamLimits

  constructor(limits: DownstreamLimits) {
    this.#limits = limits
  }

  /** The outlet for a call: that of the client itself, or one that becomes a task when the call takes long. */
  outletFor(request: ClientRequest, outlet: Outlet): Outlet {
    if (!request.client.tasks) return outlet
    return new TaskOutlet(request, outlet, this.#limits.taskAfterMs, (task) => this.#hold(task))
  }

  /** Another principal's task is not found, just as one that never was. */
  find(request: ClientRequest): TaskOutlet | undefined {
    const task = this.#byId.get(textMember(request.params, 'taskId') ?? '')
    return task !== undefined && task.owner === ownerKey(request.principal) && task.until > Date.now()
      ? task
      : undefined
  }

  close(): void {
    this.#byId.clear()
  }

  #hold(task: TaskOutlet): boolean {
    const now = Date.now()
    let own = 0
    for (const [id, other] of this.#byId) {
      if (other.until <= now) this.#byId.delete(id)
      else if (other.owner === task.owner) own++
    }
    if (own >= this.#limits.tasksPerPrincipal || this.#byId.size >= this.#limits.tasks) return false
    this.#byId.set(task.id, task)
    return true
  }
}

export function getTask(request: ClientRequest, outlet: Outlet, door: FrontDoor): void {
  withTask(request, outlet, door, (task) =>
    outlet.reply(ownResult(request, JSON.stringify(task.detail()).slice(1, -1))),
  )
}

export function cancelTask(request: ClientRequest, outlet: Outlet, door: FrontDoor): void {
  withTask(request, outlet, door, (task) => {
    task.withdraw()
    outlet.reply(ownResult(request, ''))
  })
}

/** The call is sent on its way again as a client would that had been asked: it is judged again from the first gate. */
export function updateTask(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer?: Peer): void {
  withTask(request, outlet, door, (task) => {
    const responses = member(request.params, 'inputResponses')
    const next = isJsonObject(responses) ? task.answer(responses) : undefined
    // Who answers now is the one who is asked who it is: credentials are never kept.
    if (next !== undefined) callTool({ ...next, credential: request.credential }, task, door, peer)
    outlet.reply(ownResult(request, ''))
  })
}

function withTask(request: ClientRequest, outlet: Outlet, door: FrontDoor, use: (task: TaskOutlet) => void): void {
  if (!request.client.tasks) {
    const data = { requiredCapabilities: { extensions: { [EXTENSION_TASKS]: {} } } }
    const why = 'The request does not declare the tasks extension'
    return outlet.reply(failure(request.id, errorCodes.missingClientCapability, why, data, 400))
  }
  const task = door.tasks.find(request)
  if (task === undefined) return outlet.reply(failure(request.id, errorCodes.invalidParams, 'No such task'))
  use(task)
}
