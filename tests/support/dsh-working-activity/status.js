// One word for what the agent does, told by the front end.

export class ActivityTracker {
  constructor(_config, now = Date.now) {
    this.now = now
    this.set('idle', '')
    this.since = now()
  }

  onAgentStatus(status) {
    if (status !== 'idle') {
      this.set('thinking', 'working')
      this.since = this.now()
    } else if (this.phase !== 'idle') this.set('done', 'done')
  }

  onSessionEvent({ type, data }) {
    if (type === 'tool/start') this.set('tool', `tool ${data?.name ?? ''}`)
  }

  onInterrupted() {
    this.set('done', 'interrupted')
  }

  onModelSwitch() {}
  onCompact() {}
  onGitBranch() {}

  render() {
    return { phase: this.phase, line: this.line, elapsedMs: this.now() - this.since }
  }

  set(phase, line) {
    this.phase = phase
    this.line = line
  }
}
