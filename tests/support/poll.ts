/** Waiting for a fact without waiting for time: turns of the event loop, taken before any test can fake its timers. */

const { setImmediate: immediate, setTimeout: timeout } = globalThis

/** Turns without work on the disk after which everything has settled. */
const QUIET_TURNS = 20
/** Work on the disk that takes more turns than this is not waited for. */
const SETTLE_TURNS = 5_000
/** Polls a turn apart, before polls a millisecond apart, which leave disk and child processes room. */
const POLLS_AT_ONCE = 200
/** Below the runner's own limit for a test, so that the complaint is read. */
const POLLS = 2500

/** Let microtasks, and work that is already due, finish, on the disk too. */
export async function settle(): Promise<void> {
  for (let turn = 0, quiet = 0; turn < SETTLE_TURNS && quiet < QUIET_TURNS; turn++) {
    await (turn < POLLS_AT_ONCE ? nextTurn() : nextMillisecond())
    quiet = isReadingDisk() ? 0 : quiet + 1
  }
}

function isReadingDisk(): boolean {
  return process.getActiveResourcesInfo().some(name => /^(?:FSReq|FileHandle)/.test(name))
}

/** Poll until `predicate` is truthy and return its value; after some seconds throw what `complain` says. */
export async function poll<T>(predicate: () => T, complain: () => string, polls = POLLS): Promise<NonNullable<T>> {
  for (let count = 0; count < polls; count++) {
    const value = predicate()
    if (value) return value
    await (count < POLLS_AT_ONCE ? nextTurn() : nextMillisecond())
  }
  throw new Error(complain())
}

function nextTurn(): Promise<unknown> {
  return new Promise(resolve => void immediate(resolve))
}

/** Leaves the processor to the threads that read the disk, and to child processes. */
function nextMillisecond(): Promise<unknown> {
  return new Promise(resolve => void timeout(resolve, 1))
}
