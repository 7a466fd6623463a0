# Runs a manifest as a step of a build with GNU Make. Set before the `include`:
#
#   Q25_MANIFEST  the manifest
#   Q25_OUT       the folder of the artifacts
#   Q25_NAME      the parameter `name` of the step `firmware`; q25_assets where it is not set
#   Q25_SOURCES   C files among the artifacts that the firmware compiles, as chat_frames.c or model_table.c
#   Q25_ARGS      more arguments of `pipeline run`, as --no-fallback or --set KEY=VALUE
#   PIPELINE      the tool; `pipeline` where it is not set
#
# It defines, to be used behind it:
#
#   Q25_ASSETS_S, Q25_ASSETS_H, Q25_ASSETS_LD  the parts of the step
#   Q25_C         the files of Q25_SOURCES, in the folder of the artifacts
#   Q25_CPPFLAGS  where headers and assembly find what they include
#   Q25_LDFLAGS   where the linker script finds what it includes
#   Q25_STAMP     stands for the run: an order-only prerequisite of what includes the header
#
# Nothing runs where nothing changed: the artifacts keep their time where their bytes did not change, so the
# rule's target is a file of its own. The manifest, the model and the tool are its prerequisites.
PIPELINE ?= pipeline
Q25_NAME ?= q25_assets
Q25_STAMP := $(Q25_OUT)/.$(Q25_NAME).stamp
Q25_PARTS := $(Q25_OUT)/firmware/$(Q25_NAME)
Q25_ASSETS_S := $(Q25_PARTS).S
Q25_ASSETS_H := $(Q25_PARTS).h
Q25_ASSETS_LD := $(Q25_PARTS).ld
Q25_C := $(addprefix $(Q25_OUT)/,$(Q25_SOURCES))
Q25_CPPFLAGS := -I$(Q25_OUT)/firmware -I$(Q25_OUT)
Q25_LDFLAGS := -L$(Q25_OUT)/firmware

Q25_MADE := $(Q25_ASSETS_S) $(Q25_ASSETS_H) $(Q25_ASSETS_LD) $(Q25_C)

# A part that somebody removed is made again.
$(Q25_STAMP): $(Q25_MANIFEST) $(if $(filter-out $(wildcard $(Q25_MADE)),$(Q25_MADE)),q25_missing)
	$(PIPELINE) run $(Q25_MANIFEST) --out $(Q25_OUT) $(Q25_ARGS) --depfile $@.d --depfile-target $@
	@touch $@

$(Q25_MADE): $(Q25_STAMP) ;

.PHONY: q25_missing
q25_missing:

-include $(Q25_STAMP).d
