// A fork of the application: everything under guard is completed before it, and the child, which has neither the helper thread
// nor a place in the job, leaves everything to the host.
#pragma once

namespace sluice {

/// Once in a process; the handlers do nothing while Sluice is not engaged.
void install_fork_handlers();

/// The handlers, for a fork that does not call them.
void before_fork();
void in_parent_of_fork();
void in_child_of_fork();

}  // namespace sluice
